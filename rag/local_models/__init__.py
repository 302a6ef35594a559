"""Models on this machine's own processor."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # see embeddings/embedders/__init__.py
