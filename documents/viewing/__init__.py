"""Showing documents: page pictures, where a quote stands on a page, and the original file.

alignment  a stored page's text against the letters that a page shows
service    what the faces call
"""
