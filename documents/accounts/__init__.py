"""Accounts: what they may do (`rights`), who is logged in (`sessions`), and how one logs in (`login`)."""
