-- What a deleted document said goes with it: its citations keep no word of it, and an answer that cites it may
-- quote it, as a claim that is contradicted may. A follow-up question that was made to stand alone may name it
-- too: the question's own words stay. rag.history locks the documents that it cites, so that no citation comes
-- after this has looked. Answers before their citations, in the order in which they go themselves.
--
-- Follow-ups are looked for once a conversation, not once a citation: who sends the same conversation_id with
-- every question has one conversation of hundreds of thousands. Its last condition but one is the index's own.
CREATE OR REPLACE FUNCTION rag_forget_quotes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ids uuid[] := (SELECT array_agg(id) FROM deleted);
BEGIN
    UPDATE rag_query f SET rewritten_query = ''
    FROM (
        SELECT q.conversation_id, q.key_id, min(q.created_at) AS since
        FROM rag_citation c JOIN rag_query q ON q.id = c.response_id
        WHERE c.document_id = ANY(ids) AND NOT q.conversation_id = '' GROUP BY 1, 2
    ) told
    WHERE f.conversation_id = told.conversation_id AND f.key_id IS NOT DISTINCT FROM told.key_id
        AND f.created_at > told.since AND NOT f.conversation_id = '' AND f.rewritten_query <> '';
    UPDATE rag_response SET answer = '', contradicted = '[]', quotes_gone = true
    WHERE query_id IN (SELECT response_id FROM rag_citation WHERE document_id = ANY(ids));
    UPDATE rag_citation SET quoted_text = '', title = '', gone = true
    WHERE document_id = ANY(ids) AND NOT gone;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER rag_quoted_documents_gone AFTER DELETE ON documents_document
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION rag_forget_quotes();
