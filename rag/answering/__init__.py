"""Answering a question.

`ask` is what every face calls: the cache, the pipeline, the record. `pipeline` has the order of the stages,
`finding` those until the passages are judged; `parts` builds them from the settings. `services` makes,
searches and explains questions (`explanation`); `replay` asks a past one again. `cache` keeps answers to
reuse; `lifecycle` is what happens when a process starts and ends.
"""
