"""Readers of what offices work with: spreadsheets, presentations, OpenDocument, RTF, e-books and mail."""
