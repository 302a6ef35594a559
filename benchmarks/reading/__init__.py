"""How the sentence reader that ships with Knowlex was made: see rag/synthesizers/reader/README.md."""
