-- In line as long as a page holds them: an exact scan of vectors out of line is three times slower.
ALTER TABLE embeddings_embedding ALTER COLUMN vector SET STORAGE MAIN;

-- Some kilobytes that do not compress: out of line, and not tried.
ALTER TABLE embeddings_sentencevectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
