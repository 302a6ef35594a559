"""`RAGService`: answers for other programs, out of a collection that others keep. No Django in here."""
