-- An evaluation tells what its collections hold, so it goes with any of them; an answer quotes its documents.
CREATE FUNCTION rag_forget_evaluations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM rag_evaluation WHERE collection_ids && (SELECT array_agg(id) FROM gone);
    RETURN NULL;
END $$;
CREATE TRIGGER rag_collections_gone AFTER DELETE ON documents_collection
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rag_forget_evaluations();

CREATE FUNCTION rag_forget_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE rag_evaluationresult SET answer = '', cited = '{}'
    WHERE cited && (SELECT array_agg(id) FROM gone);
    RETURN NULL;
END $$;
CREATE TRIGGER rag_documents_gone AFTER DELETE ON documents_document
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rag_forget_answers();
