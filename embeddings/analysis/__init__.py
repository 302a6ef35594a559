"""Words of a text by the language it is written in: stems without stop words, pairs of unspaced scripts."""
