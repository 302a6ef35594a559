"""Embedding models, one module each."""
