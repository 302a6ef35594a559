"""Follow-up questions made to stand alone. Plain Python."""
