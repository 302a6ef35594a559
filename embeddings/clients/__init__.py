"""Requests to servers that keep vectors: plain Python over HTTP, without Django."""
