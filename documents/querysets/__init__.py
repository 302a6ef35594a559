"""Every query of the documents app has a name. Jobs, keys and the library have modules of their own."""
