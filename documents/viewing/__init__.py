"""Showing documents: page pictures, where a quote stands on a page, and the original file.

alignment  a stored page's text against the letters that a page shows
page_cache  pictures and layouts on disk, by checksum, within a size limit
service    what the faces call
"""
