"""How probable it is that a passage helps to answer a question: a logistic model of a few numbers.

`features` are the numbers, and `assessment` gives a search's passages their relevance by weights that ship or
that a model stores. `fitting`, `calibrator` and `reliability` make and measure such weights, for `manage.py
calibrate` and the benchmarks. `answers` judges whether an answer answers its question. Plain Python.
"""
