"""Which passages the synthesizer is shown, and how much of each. Plain Python."""
