"""Knowlex, a self-hosted knowledge base."""

__version__ = "0.1.0"
