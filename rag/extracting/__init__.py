"""Which sentences of a context answer a question: what the extractive synthesizer says. Plain Python."""
