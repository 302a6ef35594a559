-- Statement-level triggers: one INSERT of a batch of entries adds one row per (collection, lexeme), and no
-- row is ever updated here, so writers of the same words neither wait for each other nor deadlock.
CREATE FUNCTION embeddings_count_lexemes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, step * count(*)
    FROM changed, unnest(tsvector_to_array(changed.lexemes)) AS lexeme
    GROUP BY collection_id, lexeme
    UNION ALL
    SELECT collection_id, '', step * count(*) FROM changed GROUP BY collection_id;
    RETURN NULL;
END $$;
CREATE TRIGGER embeddings_lexemes_in AFTER INSERT ON embeddings_lexicalentry
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_lexemes();
CREATE TRIGGER embeddings_lexemes_out AFTER DELETE ON embeddings_lexicalentry
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_lexemes();

-- They stay true when a new version's words are moved.
CREATE FUNCTION embeddings_count_moved_lexemes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, sum(step) FROM (
        SELECT collection_id, unnest(tsvector_to_array(lexemes)) AS lexeme, -1 AS step FROM was
        UNION ALL SELECT collection_id, '', -1 FROM was
        UNION ALL SELECT collection_id, unnest(tsvector_to_array(lexemes)), 1 FROM now_is
        UNION ALL SELECT collection_id, '', 1 FROM now_is
    ) moved GROUP BY collection_id, lexeme HAVING sum(step) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER embeddings_lexemes_moved AFTER UPDATE ON embeddings_lexicalentry
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION embeddings_count_moved_lexemes();
