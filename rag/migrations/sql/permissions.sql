-- A past question is hidden from whoever may not read all that it was given: its answer may quote any of it.
-- principals: NULL for a caller who reads everything. SECURITY DEFINER: it must see what is hidden.
CREATE FUNCTION rag_is_hidden(query uuid, principals text[]) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT principals IS NOT NULL AND EXISTS (
        SELECT FROM rag_candidates k, unnest(k.document_ids) AS given (id)
        JOIN documents_document d ON d.id = given.id
        WHERE k.query_id = query AND d.readers IS NOT NULL AND NOT d.readers && principals
    )
$$;
