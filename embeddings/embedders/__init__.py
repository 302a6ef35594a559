"""Embedding models, one module each."""

import os

# ONNX Runtime reports its use to its makers, from threads that hang the end of a process that was forked.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
