-- For the rest of the transaction.
CREATE FUNCTION documents_read_as(principals text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE reader oid := to_regrole('knowlex_reader');
BEGIN
    IF reader IS NOT NULL AND pg_has_role(reader, 'MEMBER') THEN
        PERFORM set_config('knowlex.principals', principals::text, true);
        PERFORM set_config('role', 'knowlex_reader', true);
    END IF;
END $$;

ALTER TABLE documents_document ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents_page ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents_chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents_ingestitem ENABLE ROW LEVEL SECURITY;
CREATE POLICY documents_readers ON documents_document FOR SELECT USING (
    readers IS NULL OR readers && (SELECT nullif(current_setting('knowlex.principals', true), '')::text[]));
CREATE POLICY documents_readers ON documents_ingestitem FOR SELECT USING (
    readers IS NULL OR readers && (SELECT nullif(current_setting('knowlex.principals', true), '')::text[]));
CREATE POLICY documents_readers ON documents_page FOR SELECT USING (
    EXISTS (SELECT FROM documents_document d WHERE d.id = document_id));
CREATE POLICY documents_readers ON documents_chunk FOR SELECT USING (
    EXISTS (SELECT FROM documents_document d WHERE d.id = document_id));
ALTER VIEW documents_entry_stored SET (security_invoker = true);
ALTER VIEW documents_entry_unstored SET (security_invoker = true);
ALTER VIEW documents_entry SET (security_invoker = true);
