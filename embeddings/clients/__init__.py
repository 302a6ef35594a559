"""Clients of servers that keep vectors: plain Python, over raw HTTP, no Django."""
