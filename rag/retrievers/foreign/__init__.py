"""Retrieval over records that somebody else keeps: a Chroma collection, texts in memory. No Django."""
