"""bm25s over the chunks that are given on stdin: places of the best, for each query. No Knowlex in here."""

import json
import sys

import bm25s
import Stemmer

given = json.load(sys.stdin)
stemmer = Stemmer.Stemmer("english")
retriever = bm25s.BM25()
how = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
retriever.index(bm25s.tokenize(given["chunks"], **how), show_progress=False)
places, _ = retriever.retrieve(
    bm25s.tokenize(given["queries"], **how), k=min(given["depth"], len(given["chunks"])), show_progress=False
)
json.dump(places.tolist(), sys.stdout)
