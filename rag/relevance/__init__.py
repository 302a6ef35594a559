"""How probable it is that a passage helps to answer a question: a logistic model of a few numbers.

`features` are the numbers, `calibration` their weights, and `assessing` gives a search's passages their
relevance. The rest is for `manage.py calibrate` and the benchmarks: `labelled_pairs` and `judged_pairs` make
pairs to learn from, `fitting` fits weights to them, `calibrating` makes of these what a model stores.
`answers` tells of an answer whether it answers its question. Plain Python.
"""

from rag.relevance.assessment import Calibration, assess, is_foreign

__all__ = ["Calibration", "assess", "is_foreign"]
