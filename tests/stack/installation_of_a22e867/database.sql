
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';
CREATE FUNCTION public.documents_collections_changed(ids uuid[]) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO documents_collectionchange (collection_id, mark)
    SELECT id, (random() * 9007199254740991)::bigint FROM documents_collection WHERE id = ANY(ids)
$$;
CREATE FUNCTION public.documents_documents_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM documents_collections_changed(
        ARRAY(SELECT DISTINCT collection_id FROM changed WHERE replaces_id IS NULL));
    RETURN NULL;
END $$;
CREATE FUNCTION public.documents_documents_rewritten() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(
        SELECT DISTINCT unnest(ARRAY[was.collection_id, now_is.collection_id])
        FROM was JOIN now_is USING (id)
        WHERE (was.replaces_id IS NULL OR now_is.replaces_id IS NULL)
            AND to_jsonb(was) - '{status,updated_at}'::text[]
                <> to_jsonb(now_is) - '{status,updated_at}'::text[]
    ));
    RETURN NULL;
END $$;
CREATE FUNCTION public.embeddings_chunks_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(
        SELECT DISTINCT d.collection_id FROM changed, LATERAL (
            SELECT document_id FROM documents_chunk WHERE id = changed.chunk_id OFFSET 0
        ) c, LATERAL (
            SELECT collection_id FROM documents_document
            WHERE id = c.document_id AND replaces_id IS NULL OFFSET 0
        ) d
    ));
    RETURN NULL;
END $$;
CREATE FUNCTION public.embeddings_collections_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM documents_collections_changed(ARRAY(SELECT DISTINCT collection_id FROM changed));
    RETURN NULL;
END $$;
CREATE FUNCTION public.embeddings_count_lexemes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.embeddings_count_moved_lexemes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.embeddings_rewritten_to_outbox() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM embeddings_outsidestore)
        AND current_setting('knowlex.outbox', true) IS DISTINCT FROM 'off' THEN
        
    INSERT INTO embeddings_outboxentry AS o (model_id, chunk_id, version, attempts, error, created_at)
    SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
    FROM (SELECT model_id, chunk_id FROM was JOIN now_is USING (model_id, chunk_id)
            WHERE was.vector <> now_is.vector OR was.collection_id <> now_is.collection_id
                AND EXISTS (SELECT FROM documents_collection c WHERE c.id = was.collection_id) ORDER BY model_id, chunk_id) AS changed
    ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
        leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION public.embeddings_vectors_to_outbox() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM embeddings_outsidestore)
        AND current_setting('knowlex.outbox', true) IS DISTINCT FROM 'off' THEN
        
    INSERT INTO embeddings_outboxentry AS o (model_id, chunk_id, version, attempts, error, created_at)
    SELECT model_id, chunk_id, nextval('embeddings_outbox_version'), 0, '', statement_timestamp()
    FROM (SELECT model_id, chunk_id FROM changed ORDER BY model_id, chunk_id) AS changed
    ON CONFLICT (model_id, chunk_id) DO UPDATE SET version = excluded.version, attempts = 0, error = '',
        leased_until = CASE WHEN o.lease IS NOT NULL THEN o.leased_until END;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION public.rag_forget_answers() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE rag_evaluationresult SET answer = '', cited = '{}'
    WHERE cited && (SELECT array_agg(id) FROM gone);
    RETURN NULL;
END $$;
CREATE FUNCTION public.rag_forget_evaluations() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM rag_evaluation WHERE collection_ids && (SELECT array_agg(id) FROM gone);
    RETURN NULL;
END $$;
CREATE FUNCTION public.rag_forget_quotes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
    UPDATE rag_response SET answer = '', quotes_gone = true
    WHERE query_id IN (SELECT response_id FROM rag_citation WHERE document_id = ANY(ids));
    UPDATE rag_citation SET quoted_text = '', title = '', gone = true
    WHERE document_id = ANY(ids) AND NOT gone;
    RETURN NULL;
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);
ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);
ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user (
    id integer NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    is_superuser boolean NOT NULL,
    username character varying(150) NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    email character varying(254) NOT NULL,
    is_staff boolean NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL
);
CREATE TABLE public.auth_user_groups (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    group_id integer NOT NULL
);
ALTER TABLE public.auth_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.auth_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user_user_permissions (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_admin_log (
    id integer NOT NULL,
    action_time timestamp with time zone NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    action_flag smallint NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    user_id integer NOT NULL,
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0))
);
ALTER TABLE public.django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);
ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);
ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);
CREATE TABLE public.documents_apikey (
    id uuid NOT NULL,
    name character varying(255) NOT NULL,
    prefix character varying(16) NOT NULL,
    hash character varying(64) NOT NULL,
    scope character varying(8) NOT NULL,
    bound boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone
);
CREATE TABLE public.documents_apikeycollection (
    id bigint NOT NULL,
    collection_id uuid NOT NULL,
    key_id uuid NOT NULL
);
ALTER TABLE public.documents_apikeycollection ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.documents_apikeycollection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.documents_chunk (
    id uuid NOT NULL,
    chunk_index integer NOT NULL,
    content text NOT NULL,
    start_char integer NOT NULL,
    end_char integer NOT NULL,
    token_count integer NOT NULL,
    page_number integer,
    last_page integer,
    chapter text NOT NULL,
    section text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    document_id uuid NOT NULL,
    chunk_type character varying(16) DEFAULT 'paragraph'::character varying NOT NULL,
    headers jsonb DEFAULT '[]'::jsonb NOT NULL
);
CREATE TABLE public.documents_collection (
    id uuid NOT NULL,
    name character varying(255) NOT NULL,
    description text NOT NULL,
    settings jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.documents_collectionchange (
    id bigint NOT NULL,
    collection_id uuid NOT NULL,
    mark bigint NOT NULL
);
ALTER TABLE public.documents_collectionchange ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.documents_collectionchange_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.documents_document (
    id uuid NOT NULL,
    source character varying(16) NOT NULL,
    original_filename character varying(255) NOT NULL,
    title character varying(512) NOT NULL,
    checksum character varying(64) NOT NULL,
    size_bytes bigint NOT NULL,
    file character varying(255) NOT NULL,
    page_count integer NOT NULL,
    chunk_count integer NOT NULL,
    metadata jsonb NOT NULL,
    warnings jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    collection_id uuid NOT NULL,
    permissions jsonb DEFAULT '{}'::jsonb NOT NULL,
    replaces_id uuid,
    source_url text DEFAULT ''::text NOT NULL,
    status character varying(16) DEFAULT 'pending'::character varying NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    language character varying(8) DEFAULT ''::character varying NOT NULL
);
CREATE TABLE public.documents_ingestitem (
    id uuid NOT NULL,
    "position" integer NOT NULL,
    source_type character varying(8) NOT NULL,
    source_url text NOT NULL,
    filename character varying(255) NOT NULL,
    title character varying(512) NOT NULL,
    metadata jsonb NOT NULL,
    file character varying(255) NOT NULL,
    checksum character varying(64) NOT NULL,
    size_bytes bigint,
    status character varying(16) NOT NULL,
    stage character varying(16) NOT NULL,
    lease uuid,
    leased_until timestamp with time zone,
    attempts integer NOT NULL,
    pages_total integer NOT NULL,
    pages_done integer NOT NULL,
    chunks_made integer NOT NULL,
    duplicate_of uuid,
    warnings jsonb NOT NULL,
    error_code character varying(64) NOT NULL,
    error text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    deleted_at timestamp with time zone,
    collection_id uuid NOT NULL,
    replaces_id uuid,
    job_id uuid NOT NULL
);
CREATE VIEW public.documents_entry_stored AS
 SELECT d.id,
    d.collection_id,
    i.job_id,
    d.source,
    d.source_url,
    d.original_filename,
    d.title,
    d.checksum,
    d.size_bytes,
    d.page_count,
    d.chunk_count,
    d.status,
    COALESCE(i.stage, ''::character varying) AS stage,
    COALESCE(i.error_code, ''::character varying) AS error_code,
    COALESCE(i.error, ''::text) AS error,
    d.metadata,
    d.permissions,
    d.warnings,
    d.created_at,
    d.updated_at,
    d.language
   FROM (public.documents_document d
     LEFT JOIN public.documents_ingestitem i ON ((i.id = d.id)))
  WHERE (d.replaces_id IS NULL);
CREATE VIEW public.documents_entry_unstored AS
 SELECT id,
    collection_id,
    job_id,
    ''::character varying AS source,
    source_url,
    filename AS original_filename,
    title,
    checksum,
    size_bytes,
    pages_done AS page_count,
    0 AS chunk_count,
    status,
    stage,
    error_code,
    error,
    metadata,
    '{}'::jsonb AS permissions,
    warnings,
    created_at,
    COALESCE(ended_at, started_at, created_at) AS updated_at,
    ''::character varying AS language
   FROM public.documents_ingestitem i
  WHERE ((replaces_id IS NULL) AND (deleted_at IS NULL) AND ((status)::text <> 'completed'::text) AND (NOT (EXISTS ( SELECT
           FROM public.documents_document d
          WHERE (d.id = i.id)))));
CREATE VIEW public.documents_entry AS
 SELECT documents_entry_stored.id,
    documents_entry_stored.collection_id,
    documents_entry_stored.job_id,
    documents_entry_stored.source,
    documents_entry_stored.source_url,
    documents_entry_stored.original_filename,
    documents_entry_stored.title,
    documents_entry_stored.checksum,
    documents_entry_stored.size_bytes,
    documents_entry_stored.page_count,
    documents_entry_stored.chunk_count,
    documents_entry_stored.status,
    documents_entry_stored.stage,
    documents_entry_stored.error_code,
    documents_entry_stored.error,
    documents_entry_stored.metadata,
    documents_entry_stored.permissions,
    documents_entry_stored.warnings,
    documents_entry_stored.created_at,
    documents_entry_stored.updated_at,
    documents_entry_stored.language
   FROM public.documents_entry_stored
UNION ALL
 SELECT documents_entry_unstored.id,
    documents_entry_unstored.collection_id,
    documents_entry_unstored.job_id,
    documents_entry_unstored.source,
    documents_entry_unstored.source_url,
    documents_entry_unstored.original_filename,
    documents_entry_unstored.title,
    documents_entry_unstored.checksum,
    documents_entry_unstored.size_bytes,
    documents_entry_unstored.page_count,
    documents_entry_unstored.chunk_count,
    documents_entry_unstored.status,
    documents_entry_unstored.stage,
    documents_entry_unstored.error_code,
    documents_entry_unstored.error,
    documents_entry_unstored.metadata,
    documents_entry_unstored.permissions,
    documents_entry_unstored.warnings,
    documents_entry_unstored.created_at,
    documents_entry_unstored.updated_at,
    documents_entry_unstored.language
   FROM public.documents_entry_unstored;
CREATE TABLE public.documents_idempotencyrecord (
    id bigint NOT NULL,
    scope character varying(64) NOT NULL,
    key character varying(255) NOT NULL,
    fingerprint character varying(64) NOT NULL,
    status integer,
    body jsonb,
    created_at timestamp with time zone NOT NULL,
    locked_until timestamp with time zone
);
ALTER TABLE public.documents_idempotencyrecord ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.documents_idempotencyrecord_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.documents_ingestjob (
    id uuid NOT NULL,
    settings jsonb NOT NULL,
    origin character varying(16) NOT NULL,
    key_id uuid,
    created_at timestamp with time zone NOT NULL,
    collection_id uuid NOT NULL
);
CREATE TABLE public.documents_page (
    id bigint NOT NULL,
    number integer NOT NULL,
    start_char integer NOT NULL,
    text text NOT NULL,
    read_by character varying(16) NOT NULL,
    warnings jsonb NOT NULL,
    document_id uuid NOT NULL
);
ALTER TABLE public.documents_page ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.documents_page_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.embeddings_droppedspace (
    model_id smallint NOT NULL,
    dimensions integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.embeddings_embedding (
    collection_id uuid NOT NULL,
    vector public.vector NOT NULL,
    created_at timestamp with time zone NOT NULL,
    chunk_id uuid NOT NULL,
    model_id smallint NOT NULL
);
ALTER TABLE ONLY public.embeddings_embedding ALTER COLUMN vector SET STORAGE MAIN;
CREATE TABLE public.embeddings_embeddingmodel (
    id smallint NOT NULL,
    name character varying(255) NOT NULL,
    provider character varying(32) NOT NULL,
    dimensions integer NOT NULL,
    active boolean NOT NULL,
    calibration jsonb,
    created_at timestamp with time zone NOT NULL,
    activated_at timestamp with time zone,
    deactivated_at timestamp with time zone,
    options jsonb NOT NULL,
    wanted boolean NOT NULL,
    first_until timestamp with time zone
);
ALTER TABLE public.embeddings_embeddingmodel ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.embeddings_embeddingmodel_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.embeddings_embeddingrequest (
    id bigint NOT NULL,
    batch uuid,
    lease uuid,
    leased_until timestamp with time zone,
    attempts integer NOT NULL,
    failed_at timestamp with time zone,
    error text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    chunk_id uuid NOT NULL,
    model_id smallint NOT NULL,
    run_id uuid NOT NULL
);
ALTER TABLE public.embeddings_embeddingrequest ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.embeddings_embeddingrequest_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.embeddings_embeddingrun (
    id uuid NOT NULL,
    requested integer NOT NULL,
    embedded integer NOT NULL,
    failed integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    model_id smallint
);
CREATE TABLE public.embeddings_indexmeasurement (
    id bigint NOT NULL,
    kind character varying(16) NOT NULL,
    storage character varying(16) NOT NULL,
    rows bigint NOT NULL,
    lists integer NOT NULL,
    effort integer NOT NULL,
    sample integer NOT NULL,
    recall double precision NOT NULL,
    index_ms double precision NOT NULL,
    exact_ms double precision NOT NULL,
    serves boolean NOT NULL,
    reason character varying(64) NOT NULL,
    measured_at timestamp with time zone NOT NULL,
    model_id smallint NOT NULL
);
ALTER TABLE public.embeddings_indexmeasurement ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.embeddings_indexmeasurement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.embeddings_lexemecount (
    id bigint NOT NULL,
    collection_id uuid NOT NULL,
    lexeme text NOT NULL,
    chunks integer NOT NULL
);
ALTER TABLE public.embeddings_lexemecount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.embeddings_lexemecount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.embeddings_lexicalentry (
    chunk_id uuid NOT NULL,
    collection_id uuid NOT NULL,
    lexemes tsvector NOT NULL,
    weights public.sparsevec(16777216) NOT NULL
);
CREATE SEQUENCE public.embeddings_outbox_version
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.embeddings_outboxentry (
    model_id smallint NOT NULL,
    chunk_id uuid NOT NULL,
    version bigint NOT NULL,
    lease uuid,
    leased_until timestamp with time zone,
    attempts integer NOT NULL,
    error text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.embeddings_outsidestore (
    id smallint NOT NULL,
    kind character varying(16) NOT NULL,
    place text NOT NULL,
    fingerprint character varying(64) NOT NULL,
    since timestamp with time zone NOT NULL,
    filled boolean NOT NULL,
    failures integer NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    error text NOT NULL,
    CONSTRAINT outside_store_one CHECK ((id = 1))
);
CREATE TABLE public.embeddings_sentencevectors (
    bounds integer[] NOT NULL,
    vectors public.halfvec[] NOT NULL,
    chunk_id uuid NOT NULL,
    model_id smallint NOT NULL
);
ALTER TABLE ONLY public.embeddings_sentencevectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
CREATE TABLE public.embeddings_vectorindex (
    model_id smallint NOT NULL,
    number integer NOT NULL,
    kind character varying(16) NOT NULL,
    storage character varying(16) NOT NULL,
    rows bigint NOT NULL,
    lists integer NOT NULL,
    effort integer NOT NULL,
    recall double precision,
    serves boolean NOT NULL,
    exact_below integer NOT NULL,
    built_at timestamp with time zone NOT NULL,
    measured_at timestamp with time zone
);
CREATE TABLE public.rag_candidates (
    query_id uuid NOT NULL,
    judged integer NOT NULL,
    chunk_ids uuid[] NOT NULL,
    document_ids uuid[] NOT NULL,
    dense_scores double precision[] NOT NULL,
    sparse_scores double precision[] NOT NULL,
    fused_scores double precision[] NOT NULL,
    rerank_scores double precision[] NOT NULL,
    relevances double precision[] NOT NULL,
    results integer[] NOT NULL,
    context integer[] NOT NULL
)
WITH (toast_tuple_target='8160');
CREATE TABLE public.rag_citation (
    id bigint NOT NULL,
    "position" integer NOT NULL,
    citation_index integer NOT NULL,
    chunk_id uuid NOT NULL,
    document_id uuid NOT NULL,
    title text NOT NULL,
    page_number integer,
    quoted_text text NOT NULL,
    start_char integer NOT NULL,
    end_char integer NOT NULL,
    answer_start integer NOT NULL,
    answer_end integer NOT NULL,
    support character varying(16) NOT NULL,
    gone boolean NOT NULL,
    response_id uuid NOT NULL
);
ALTER TABLE public.rag_citation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rag_citation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.rag_evaluation (
    id uuid NOT NULL,
    collection_ids uuid[] NOT NULL,
    configurations jsonb NOT NULL,
    answers boolean NOT NULL,
    status character varying(16) NOT NULL,
    error text NOT NULL,
    total integer NOT NULL,
    done integer NOT NULL,
    summary jsonb,
    lease uuid,
    leased_until timestamp with time zone,
    attempts integer NOT NULL,
    taken_at timestamp with time zone,
    key_id uuid,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    question_set_id uuid NOT NULL
);
CREATE TABLE public.rag_evaluationresult (
    id bigint NOT NULL,
    "position" integer NOT NULL,
    configuration smallint NOT NULL,
    "values" jsonb NOT NULL,
    judged jsonb NOT NULL,
    found jsonb NOT NULL,
    answered boolean,
    answer text NOT NULL,
    cited uuid[] NOT NULL,
    latency_ms double precision,
    error text NOT NULL,
    evaluation_id uuid NOT NULL
);
ALTER TABLE public.rag_evaluationresult ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rag_evaluationresult_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.rag_feedback (
    id bigint NOT NULL,
    caller character varying(80) NOT NULL,
    rating character varying(16) NOT NULL,
    comment text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    query_id uuid NOT NULL
);
ALTER TABLE public.rag_feedback ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rag_feedback_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.rag_query (
    id uuid NOT NULL,
    key_id uuid,
    face character varying(16) NOT NULL,
    conversation_id character varying(255) NOT NULL,
    original_query text NOT NULL,
    rewritten_query text NOT NULL,
    collection_ids uuid[] NOT NULL,
    filters jsonb NOT NULL,
    settings jsonb NOT NULL,
    answered boolean NOT NULL,
    reason character varying(32) NOT NULL,
    error character varying(64) NOT NULL,
    retrieved integer NOT NULL,
    confidence double precision NOT NULL,
    cached boolean NOT NULL,
    replay_of uuid,
    latency_ms integer NOT NULL,
    stage_ms jsonb NOT NULL,
    embedding_model text NOT NULL,
    reranker text NOT NULL,
    rewriting character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.rag_querycount (
    id bigint NOT NULL,
    day date NOT NULL,
    questions integer NOT NULL,
    collection_id uuid NOT NULL
);
ALTER TABLE public.rag_querycount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rag_querycount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.rag_questionset (
    id uuid NOT NULL,
    name character varying(255) NOT NULL,
    description text NOT NULL,
    question_count integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    collection_id uuid
);
CREATE TABLE public.rag_response (
    query_id uuid NOT NULL,
    answer text NOT NULL,
    quotes_gone boolean NOT NULL,
    model text NOT NULL,
    prompt_version character varying(64) NOT NULL,
    input_tokens integer NOT NULL,
    output_tokens integer NOT NULL,
    faithfulness_score double precision,
    faithfulness_judged_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    judging_attempts smallint DEFAULT 0 NOT NULL,
    judging_until timestamp with time zone
);
CREATE VIEW public.rag_retrieval AS
 SELECT c.query_id,
    (r.number)::integer AS number,
    r.chunk_id,
    r.document_id,
        CASE
            WHEN (r.number <= c.judged) THEN (r.number)::integer
            ELSE NULL::integer
        END AS rank,
    r.dense_score,
    r.sparse_score,
    r.fused_score,
    r.rerank_score,
    r.relevance,
    array_position(c.results, (r.number)::integer) AS place,
    array_position(c.context, (r.number)::integer) AS context_number
   FROM public.rag_candidates c,
    LATERAL UNNEST(c.chunk_ids, c.document_ids, c.dense_scores, c.sparse_scores, c.fused_scores, c.rerank_scores, c.relevances) WITH ORDINALITY r(chunk_id, document_id, dense_score, sparse_score, fused_score, rerank_score, relevance, number);
CREATE TABLE public.rag_setquestion (
    id bigint NOT NULL,
    "position" integer NOT NULL,
    key character varying(255) NOT NULL,
    question text NOT NULL,
    answers jsonb NOT NULL,
    document text NOT NULL,
    pages integer[] NOT NULL,
    chapter text NOT NULL,
    section text NOT NULL,
    answerable boolean NOT NULL,
    answer_type character varying(8) NOT NULL,
    lang character varying(16) NOT NULL,
    document_lang character varying(16) NOT NULL,
    evidence text NOT NULL,
    key_numbers jsonb NOT NULL,
    relevant jsonb NOT NULL,
    tags text[] NOT NULL,
    metadata jsonb NOT NULL,
    question_set_id uuid NOT NULL
);
ALTER TABLE public.rag_setquestion ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.rag_setquestion_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO public.auth_permission VALUES
	(1, 'Can add log entry', 1, 'add_logentry'),
	(2, 'Can change log entry', 1, 'change_logentry'),
	(3, 'Can delete log entry', 1, 'delete_logentry'),
	(4, 'Can view log entry', 1, 'view_logentry'),
	(5, 'Can add permission', 2, 'add_permission'),
	(6, 'Can change permission', 2, 'change_permission'),
	(7, 'Can delete permission', 2, 'delete_permission'),
	(8, 'Can view permission', 2, 'view_permission'),
	(9, 'Can add group', 3, 'add_group'),
	(10, 'Can change group', 3, 'change_group'),
	(11, 'Can delete group', 3, 'delete_group'),
	(12, 'Can view group', 3, 'view_group'),
	(13, 'Can add user', 4, 'add_user'),
	(14, 'Can change user', 4, 'change_user'),
	(15, 'Can delete user', 4, 'delete_user'),
	(16, 'Can view user', 4, 'view_user'),
	(17, 'Can add content type', 5, 'add_contenttype'),
	(18, 'Can change content type', 5, 'change_contenttype'),
	(19, 'Can delete content type', 5, 'delete_contenttype'),
	(20, 'Can view content type', 5, 'view_contenttype'),
	(21, 'Can add session', 6, 'add_session'),
	(22, 'Can change session', 6, 'change_session'),
	(23, 'Can delete session', 6, 'delete_session'),
	(24, 'Can view session', 6, 'view_session'),
	(25, 'Can add collection', 7, 'add_collection'),
	(26, 'Can change collection', 7, 'change_collection'),
	(27, 'Can delete collection', 7, 'delete_collection'),
	(28, 'Can view collection', 7, 'view_collection'),
	(29, 'Can add document', 8, 'add_document'),
	(30, 'Can change document', 8, 'change_document'),
	(31, 'Can delete document', 8, 'delete_document'),
	(32, 'Can view document', 8, 'view_document'),
	(33, 'Can add chunk', 9, 'add_chunk'),
	(34, 'Can change chunk', 9, 'change_chunk'),
	(35, 'Can delete chunk', 9, 'delete_chunk'),
	(36, 'Can view chunk', 9, 'view_chunk'),
	(37, 'Can add page', 10, 'add_page'),
	(38, 'Can change page', 10, 'change_page'),
	(39, 'Can delete page', 10, 'delete_page'),
	(40, 'Can view page', 10, 'view_page'),
	(41, 'Can add document entry', 11, 'add_documententry'),
	(42, 'Can change document entry', 11, 'change_documententry'),
	(43, 'Can delete document entry', 11, 'delete_documententry'),
	(44, 'Can view document entry', 11, 'view_documententry'),
	(45, 'Can add API key', 12, 'add_apikey'),
	(46, 'Can change API key', 12, 'change_apikey'),
	(47, 'Can delete API key', 12, 'delete_apikey'),
	(48, 'Can view API key', 12, 'view_apikey'),
	(49, 'Can add api key collection', 13, 'add_apikeycollection'),
	(50, 'Can change api key collection', 13, 'change_apikeycollection'),
	(51, 'Can delete api key collection', 13, 'delete_apikeycollection'),
	(52, 'Can view api key collection', 13, 'view_apikeycollection'),
	(53, 'Can add idempotency record', 14, 'add_idempotencyrecord'),
	(54, 'Can change idempotency record', 14, 'change_idempotencyrecord'),
	(55, 'Can delete idempotency record', 14, 'delete_idempotencyrecord'),
	(56, 'Can view idempotency record', 14, 'view_idempotencyrecord'),
	(57, 'Can add ingest item', 15, 'add_ingestitem'),
	(58, 'Can change ingest item', 15, 'change_ingestitem'),
	(59, 'Can delete ingest item', 15, 'delete_ingestitem'),
	(60, 'Can view ingest item', 15, 'view_ingestitem'),
	(61, 'Can add ingest job', 16, 'add_ingestjob'),
	(62, 'Can change ingest job', 16, 'change_ingestjob'),
	(63, 'Can delete ingest job', 16, 'delete_ingestjob'),
	(64, 'Can view ingest job', 16, 'view_ingestjob'),
	(65, 'Can add stored entry', 17, 'add_storedentry'),
	(66, 'Can change stored entry', 17, 'change_storedentry'),
	(67, 'Can delete stored entry', 17, 'delete_storedentry'),
	(68, 'Can view stored entry', 17, 'view_storedentry'),
	(69, 'Can add unstored entry', 18, 'add_unstoredentry'),
	(70, 'Can change unstored entry', 18, 'change_unstoredentry'),
	(71, 'Can delete unstored entry', 18, 'delete_unstoredentry'),
	(72, 'Can view unstored entry', 18, 'view_unstoredentry'),
	(73, 'Can add collection change', 19, 'add_collectionchange'),
	(74, 'Can change collection change', 19, 'change_collectionchange'),
	(75, 'Can delete collection change', 19, 'delete_collectionchange'),
	(76, 'Can view collection change', 19, 'view_collectionchange'),
	(77, 'Can add embedding run', 20, 'add_embeddingrun'),
	(78, 'Can change embedding run', 20, 'change_embeddingrun'),
	(79, 'Can delete embedding run', 20, 'delete_embeddingrun'),
	(80, 'Can view embedding run', 20, 'view_embeddingrun'),
	(81, 'Can add lexical entry', 21, 'add_lexicalentry'),
	(82, 'Can change lexical entry', 21, 'change_lexicalentry'),
	(83, 'Can delete lexical entry', 21, 'delete_lexicalentry'),
	(84, 'Can view lexical entry', 21, 'view_lexicalentry'),
	(85, 'Can add embedding model', 22, 'add_embeddingmodel'),
	(86, 'Can change embedding model', 22, 'change_embeddingmodel'),
	(87, 'Can delete embedding model', 22, 'delete_embeddingmodel'),
	(88, 'Can view embedding model', 22, 'view_embeddingmodel'),
	(89, 'Can add lexeme count', 23, 'add_lexemecount'),
	(90, 'Can change lexeme count', 23, 'change_lexemecount'),
	(91, 'Can delete lexeme count', 23, 'delete_lexemecount'),
	(92, 'Can view lexeme count', 23, 'view_lexemecount'),
	(93, 'Can add embedding', 24, 'add_embedding'),
	(94, 'Can change embedding', 24, 'change_embedding'),
	(95, 'Can delete embedding', 24, 'delete_embedding'),
	(96, 'Can view embedding', 24, 'view_embedding'),
	(97, 'Can add embedding request', 25, 'add_embeddingrequest'),
	(98, 'Can change embedding request', 25, 'change_embeddingrequest'),
	(99, 'Can delete embedding request', 25, 'delete_embeddingrequest'),
	(100, 'Can view embedding request', 25, 'view_embeddingrequest');
INSERT INTO public.auth_permission VALUES
	(101, 'Can add sentence vectors', 26, 'add_sentencevectors'),
	(102, 'Can change sentence vectors', 26, 'change_sentencevectors'),
	(103, 'Can delete sentence vectors', 26, 'delete_sentencevectors'),
	(104, 'Can view sentence vectors', 26, 'view_sentencevectors'),
	(105, 'Can add vector index', 27, 'add_vectorindex'),
	(106, 'Can change vector index', 27, 'change_vectorindex'),
	(107, 'Can delete vector index', 27, 'delete_vectorindex'),
	(108, 'Can view vector index', 27, 'view_vectorindex'),
	(109, 'Can add index measurement', 28, 'add_indexmeasurement'),
	(110, 'Can change index measurement', 28, 'change_indexmeasurement'),
	(111, 'Can delete index measurement', 28, 'delete_indexmeasurement'),
	(112, 'Can view index measurement', 28, 'view_indexmeasurement'),
	(113, 'Can add dropped space', 29, 'add_droppedspace'),
	(114, 'Can change dropped space', 29, 'change_droppedspace'),
	(115, 'Can delete dropped space', 29, 'delete_droppedspace'),
	(116, 'Can view dropped space', 29, 'view_droppedspace'),
	(117, 'Can add outbox entry', 30, 'add_outboxentry'),
	(118, 'Can change outbox entry', 30, 'change_outboxentry'),
	(119, 'Can delete outbox entry', 30, 'delete_outboxentry'),
	(120, 'Can view outbox entry', 30, 'view_outboxentry'),
	(121, 'Can add vector store outside PostgreSQL', 31, 'add_outsidestore'),
	(122, 'Can change vector store outside PostgreSQL', 31, 'change_outsidestore'),
	(123, 'Can delete vector store outside PostgreSQL', 31, 'delete_outsidestore'),
	(124, 'Can view vector store outside PostgreSQL', 31, 'view_outsidestore'),
	(125, 'Can add query count', 32, 'add_querycount'),
	(126, 'Can change query count', 32, 'change_querycount'),
	(127, 'Can delete query count', 32, 'delete_querycount'),
	(128, 'Can view query count', 32, 'view_querycount'),
	(129, 'Can add question set', 33, 'add_questionset'),
	(130, 'Can change question set', 33, 'change_questionset'),
	(131, 'Can delete question set', 33, 'delete_questionset'),
	(132, 'Can view question set', 33, 'view_questionset'),
	(133, 'Can add evaluation', 34, 'add_evaluation'),
	(134, 'Can change evaluation', 34, 'change_evaluation'),
	(135, 'Can delete evaluation', 34, 'delete_evaluation'),
	(136, 'Can view evaluation', 34, 'view_evaluation'),
	(137, 'Can add set question', 35, 'add_setquestion'),
	(138, 'Can change set question', 35, 'change_setquestion'),
	(139, 'Can delete set question', 35, 'delete_setquestion'),
	(140, 'Can view set question', 35, 'view_setquestion'),
	(141, 'Can add evaluation result', 36, 'add_evaluationresult'),
	(142, 'Can change evaluation result', 36, 'change_evaluationresult'),
	(143, 'Can delete evaluation result', 36, 'delete_evaluationresult'),
	(144, 'Can view evaluation result', 36, 'view_evaluationresult'),
	(145, 'Can add citation', 37, 'add_citation'),
	(146, 'Can change citation', 37, 'change_citation'),
	(147, 'Can delete citation', 37, 'delete_citation'),
	(148, 'Can view citation', 37, 'view_citation'),
	(149, 'Can add feedback', 38, 'add_feedback'),
	(150, 'Can change feedback', 38, 'change_feedback'),
	(151, 'Can delete feedback', 38, 'delete_feedback'),
	(152, 'Can view feedback', 38, 'view_feedback'),
	(153, 'Can add query', 39, 'add_query'),
	(154, 'Can change query', 39, 'change_query'),
	(155, 'Can delete query', 39, 'delete_query'),
	(156, 'Can view query', 39, 'view_query'),
	(157, 'Can add response', 40, 'add_response'),
	(158, 'Can change response', 40, 'change_response'),
	(159, 'Can delete response', 40, 'delete_response'),
	(160, 'Can view response', 40, 'view_response'),
	(161, 'Can add candidates', 41, 'add_candidates'),
	(162, 'Can change candidates', 41, 'change_candidates'),
	(163, 'Can delete candidates', 41, 'delete_candidates'),
	(164, 'Can view candidates', 41, 'view_candidates'),
	(165, 'Can add retrieval', 42, 'add_retrieval'),
	(166, 'Can change retrieval', 42, 'change_retrieval'),
	(167, 'Can delete retrieval', 42, 'delete_retrieval'),
	(168, 'Can view retrieval', 42, 'view_retrieval');
INSERT INTO public.django_content_type VALUES
	(1, 'admin', 'logentry'),
	(2, 'auth', 'permission'),
	(3, 'auth', 'group'),
	(4, 'auth', 'user'),
	(5, 'contenttypes', 'contenttype'),
	(6, 'sessions', 'session'),
	(7, 'documents', 'collection'),
	(8, 'documents', 'document'),
	(9, 'documents', 'chunk'),
	(10, 'documents', 'page'),
	(11, 'documents', 'documententry'),
	(12, 'documents', 'apikey'),
	(13, 'documents', 'apikeycollection'),
	(14, 'documents', 'idempotencyrecord'),
	(15, 'documents', 'ingestitem'),
	(16, 'documents', 'ingestjob'),
	(17, 'documents', 'storedentry'),
	(18, 'documents', 'unstoredentry'),
	(19, 'documents', 'collectionchange'),
	(20, 'embeddings', 'embeddingrun'),
	(21, 'embeddings', 'lexicalentry'),
	(22, 'embeddings', 'embeddingmodel'),
	(23, 'embeddings', 'lexemecount'),
	(24, 'embeddings', 'embedding'),
	(25, 'embeddings', 'embeddingrequest'),
	(26, 'embeddings', 'sentencevectors'),
	(27, 'embeddings', 'vectorindex'),
	(28, 'embeddings', 'indexmeasurement'),
	(29, 'embeddings', 'droppedspace'),
	(30, 'embeddings', 'outboxentry'),
	(31, 'embeddings', 'outsidestore'),
	(32, 'rag', 'querycount'),
	(33, 'rag', 'questionset'),
	(34, 'rag', 'evaluation'),
	(35, 'rag', 'setquestion'),
	(36, 'rag', 'evaluationresult'),
	(37, 'rag', 'citation'),
	(38, 'rag', 'feedback'),
	(39, 'rag', 'query'),
	(40, 'rag', 'response'),
	(41, 'rag', 'candidates'),
	(42, 'rag', 'retrieval');
INSERT INTO public.django_migrations VALUES
	(1, 'contenttypes', '0001_initial', '2026-11-23 23:47:29.012191+00'),
	(2, 'auth', '0001_initial', '2026-11-23 23:47:29.092382+00'),
	(3, 'admin', '0001_initial', '2026-11-23 23:47:29.120931+00'),
	(4, 'admin', '0002_logentry_remove_auto_add', '2026-11-23 23:47:29.134894+00'),
	(5, 'admin', '0003_logentry_add_action_flag_choices', '2026-11-23 23:47:29.145263+00'),
	(6, 'contenttypes', '0002_remove_content_type_name', '2026-11-23 23:47:29.168769+00'),
	(7, 'auth', '0002_alter_permission_name_max_length', '2026-11-23 23:47:29.181273+00'),
	(8, 'auth', '0003_alter_user_email_max_length', '2026-11-23 23:47:29.191004+00'),
	(9, 'auth', '0004_alter_user_username_opts', '2026-11-23 23:47:29.200428+00'),
	(10, 'auth', '0005_alter_user_last_login_null', '2026-11-23 23:47:29.212463+00'),
	(11, 'auth', '0006_require_contenttypes_0002', '2026-11-23 23:47:29.213542+00'),
	(12, 'auth', '0007_alter_validators_add_error_messages', '2026-11-23 23:47:29.220812+00'),
	(13, 'auth', '0008_alter_user_username_max_length', '2026-11-23 23:47:29.227209+00'),
	(14, 'auth', '0009_alter_user_last_name_max_length', '2026-11-23 23:47:29.232473+00'),
	(15, 'auth', '0010_alter_group_name_max_length', '2026-11-23 23:47:29.238977+00'),
	(16, 'auth', '0011_update_proxy_permissions', '2026-11-23 23:47:29.243251+00'),
	(17, 'auth', '0012_alter_user_first_name_max_length', '2026-11-23 23:47:29.25031+00'),
	(18, 'documents', '0001_initial', '2026-11-23 23:47:29.292934+00'),
	(19, 'documents', '0002_cascades_and_default', '2026-11-23 23:47:29.360368+00'),
	(20, 'documents', '0003_jobs_keys_and_replacements', '2026-11-23 23:47:29.828922+00'),
	(21, 'documents', '0004_documents_as_old_as_their_items', '2026-11-23 23:47:29.846199+00'),
	(22, 'documents', '0005_list_indexes', '2026-11-23 23:47:29.950516+00'),
	(23, 'documents', '0006_document_language', '2026-11-23 23:47:29.965729+00'),
	(24, 'documents', '0007_languages_in_lists', '2026-11-23 23:47:30.00305+00'),
	(25, 'documents', '0008_indexes_of_filters', '2026-11-23 23:47:30.08651+00'),
	(26, 'documents', '0009_changes_of_collections', '2026-11-23 23:47:30.111023+00'),
	(27, 'embeddings', '0001_initial', '2026-11-23 23:47:30.313813+00'),
	(28, 'embeddings', '0002_cascades_and_lexeme_counts', '2026-11-23 23:47:30.350753+00'),
	(29, 'embeddings', '0003_lease_index', '2026-11-23 23:47:30.411463+00'),
	(30, 'embeddings', '0004_status_and_moves', '2026-11-23 23:47:30.422178+00'),
	(31, 'embeddings', '0005_queue_indexes', '2026-11-23 23:47:30.53046+00'),
	(32, 'embeddings', '0006_models_side_by_side_and_sentences', '2026-11-23 23:47:30.613582+00'),
	(33, 'embeddings', '0007_vector_indexes', '2026-11-23 23:47:30.734676+00'),
	(34, 'embeddings', '0008_runs_of_models', '2026-11-23 23:47:30.780692+00'),
	(35, 'embeddings', '0009_changes_by_vectors', '2026-11-23 23:47:30.78216+00'),
	(36, 'embeddings', '0010_outbox', '2026-11-23 23:47:30.808939+00'),
	(37, 'rag', '0001_initial', '2026-11-23 23:47:30.867325+00'),
	(38, 'rag', '0002_question_sets_and_evaluations', '2026-11-23 23:47:31.109194+00'),
	(39, 'rag', '0003_past_answers', '2026-11-23 23:47:31.50692+00'),
	(40, 'rag', '0004_rewritten_follow_ups', '2026-11-23 23:47:31.509139+00'),
	(41, 'rag', '0005_answers_to_judge', '2026-11-23 23:47:31.531295+00'),
	(42, 'rag', '0006_responses_by_faithfulness', '2026-11-23 23:47:31.545158+00'),
	(43, 'rag', '0007_follow_ups_once', '2026-11-23 23:47:31.547117+00'),
	(44, 'rag', '0008_candidates_in_one_row', '2026-11-23 23:47:31.577319+00'),
	(45, 'sessions', '0001_initial', '2026-11-23 23:47:31.586338+00');
INSERT INTO public.documents_apikey VALUES
	('01a20ace-e1fd-70ec-bd25-a32756458915', 'Kitchen', 'kx_5qzu5nr2', '94c6f80a9eab631ed115fa63f46b826e03af699c08df8141df620805db8da100', 'write', false, '2026-11-23 23:47:40.172906+00', NULL, NULL, NULL),
	('01a20ace-f4ae-74cb-b6c1-4f2814a57f46', 'Reader', 'kx_mnip27vg', '4aeba7430caaf78e11a2874c04c8b11d5a94f80039a5d8991a9ac679cccaf907', 'read', true, '2026-11-23 23:47:44.943141+00', NULL, NULL, NULL);
INSERT INTO public.documents_apikeycollection VALUES
	(1, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '01a20ace-f4ae-74cb-b6c1-4f2814a57f46');
INSERT INTO public.documents_chunk VALUES
	('01a20ace-fc75-7021-b1b6-0201eff6b195', 0, 'Sourdough bread rises by wild yeast and bacteria. The starter is fed with flour and water every day. A loaf bakes for forty minutes at 230 degrees.', 0, 147, 33, 1, 1, 'Bread', '', '2026-11-23 23:47:46.934217+00', '01a20ace-fc59-701a-90f3-06838e84dd1d', 'paragraph', '["Bread"]'),
	('01a20ace-fc76-742f-be8a-e98b04e3ad58', 1, 'A kitchen needs a good scale.', 148, 177, 7, 2, 2, 'Tools', '', '2026-11-23 23:47:46.934252+00', '01a20ace-fc59-701a-90f3-06838e84dd1d', 'paragraph', '["Tools"]'),
	('01a20acf-0428-769b-a818-afb4f4c01505', 0, '# Tea

Green tea is steeped at eighty degrees for two minutes. Boiling water makes it bitter.', 0, 93, 20, NULL, NULL, 'Tea', '', '2026-11-23 23:47:48.905124+00', '01a20ace-fe61-708d-a6ad-c77dec7dc15c', 'paragraph', '["Tea"]'),
	('01a20acf-0428-769b-a818-afb57e1f18ef', 1, '## Harvest

The leaves of the second harvest are called Nibancha.', 95, 160, 15, NULL, NULL, 'Tea', 'Harvest', '2026-11-23 23:47:48.905157+00', '01a20ace-fe61-708d-a6ad-c77dec7dc15c', 'paragraph', '["Tea", "Harvest"]'),
	('01a20acf-0805-7588-aa60-f4e9d3ada19a', 0, 'The lamp in the hall is green. The door of the shed is red.', 0, 59, 16, NULL, NULL, '', '', '2026-11-23 23:47:49.893979+00', '01a20ace-fe61-708d-a6ad-c77e2f7ed2b3', 'paragraph', '[]');
INSERT INTO public.documents_collection VALUES
	('01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'default', 'Where documents go unless told otherwise.', '{}', '2026-11-23 23:47:29.359379+00'),
	('01a20ace-f9de-758d-ae15-7f191a2d3a78', 'Kitchen', '', '{"chunk_size": 512, "chunk_overlap": 50, "min_chunk_size": 100, "chunking_strategy": "sentence", "similarity_threshold": 0.85}', '2026-11-23 23:47:46.27166+00');
INSERT INTO public.documents_collectionchange VALUES
	(1, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 5835052974908187),
	(2, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 3426329474058412),
	(3, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 5412816105087553),
	(4, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 6122370411497873),
	(5, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 14179045981504),
	(6, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 3010042331149430),
	(7, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 3699202706833396),
	(8, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 8189077977869639),
	(9, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 6580082007724967);
INSERT INTO public.documents_document VALUES
	('01a20ace-fc59-701a-90f3-06838e84dd1d', 'PDF', 'bread.pdf', 'The baker''s book', '9c0cfc1a16908584a674be1947085ed7ed510bde500518d122c3f24febbda4bb', 1461, 'documents/01a20ace-fc59-701a-90f3-06838e84dd1d.pdf', 2, 2, '{}', '[]', '2026-11-23 23:47:46.905883+00', '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '{}', NULL, '', 'completed', '2026-11-23 23:47:46.912457+00', 'en'),
	('01a20ace-fe61-708d-a6ad-c77dec7dc15c', 'MARKDOWN', 'tea.md', 'Tea', 'dfc5cc896e25a752becb29f92fb2b75e9d616470272ffe898fd6248dcfc1c99e', 160, 'documents/01a20ace-fe61-708d-a6ad-c77dec7dc15c.md', 1, 2, '{"author": "Ann"}', '[]', '2026-11-23 23:47:47.442221+00', '01a20ace-f9de-758d-ae15-7f191a2d3a78', '{}', NULL, '', 'completed', '2026-11-23 23:47:48.899055+00', 'en'),
	('01a20ace-fe61-708d-a6ad-c77e2f7ed2b3', 'TEXT', 'house.txt', '', '2bf577631b0ca80a50909432bd65ef04ce9a60fc90462905f6b8b79e6b54aa8b', 59, 'documents/01a20ace-fe61-708d-a6ad-c77e2f7ed2b3.txt', 1, 1, '{}', '[]', '2026-11-23 23:47:47.442265+00', '01a20ace-f9de-758d-ae15-7f191a2d3a78', '{}', NULL, '', 'completed', '2026-11-23 23:47:49.87848+00', 'en');
INSERT INTO public.documents_ingestitem VALUES
	('01a20ace-fe61-708d-a6ad-c77dec7dc15c', 0, 'text', '', 'tea.md', 'Tea', '{"author": "Ann"}', '', 'dfc5cc896e25a752becb29f92fb2b75e9d616470272ffe898fd6248dcfc1c99e', 160, 'completed', 'ended', NULL, NULL, 1, 1, 1, 2, NULL, '[]', '', '', '2026-11-23 23:47:47.442221+00', '2026-11-23 23:47:47.487673+00', '2026-11-23 23:47:49.014017+00', NULL, '01a20ace-f9de-758d-ae15-7f191a2d3a78', NULL, '01a20ace-fe5e-7528-9ab2-0b68791787db'),
	('01a20ace-fe61-708d-a6ad-c77e2f7ed2b3', 1, 'text', '', 'house.txt', '', '{}', '', '2bf577631b0ca80a50909432bd65ef04ce9a60fc90462905f6b8b79e6b54aa8b', 59, 'completed', 'ended', NULL, NULL, 1, 1, 1, 1, NULL, '[]', '', '', '2026-11-23 23:47:47.442265+00', '2026-11-23 23:47:49.028897+00', '2026-11-23 23:47:50.012534+00', NULL, '01a20ace-f9de-758d-ae15-7f191a2d3a78', NULL, '01a20ace-fe5e-7528-9ab2-0b68791787db'),
	('01a20ace-fe61-708d-a6ad-c77f3168e0b6', 2, 'file', '', 'x.bin', '', '{}', 'documents/01a20ace-fe61-708d-a6ad-c77f3168e0b6.bin', '8b1df105f007be94621eb6df2d0942b8c64357d7ca5302644f639873872ef73e', 19, 'failed', 'ended', NULL, NULL, 1, 0, 0, 0, NULL, '[]', 'UNPROCESSABLE', 'The file seems to be binary data; what can be read is PDF, Markdown, HTML, DOCX and plain text.', '2026-11-23 23:47:47.442297+00', '2026-11-23 23:47:50.031235+00', '2026-11-23 23:47:50.076755+00', NULL, '01a20ace-f9de-758d-ae15-7f191a2d3a78', NULL, '01a20ace-fe5e-7528-9ab2-0b68791787db');
INSERT INTO public.documents_ingestjob VALUES
	('01a20ace-fe5e-7528-9ab2-0b68791787db', '{"size": 512, "overlap": 50, "min_size": 100, "strategy": "sentence", "similarity_threshold": 0.85}', 'api', NULL, '2026-11-23 23:47:47.440246+00', '01a20ace-f9de-758d-ae15-7f191a2d3a78');
INSERT INTO public.documents_page VALUES
	(1, 1, 0, 'Sourdough bread rises by wild yeast and bacteria. The starter is fed with flour and water every day. A loaf bakes for forty minutes at 230 degrees.', 'pdfium', '[]', '01a20ace-fc59-701a-90f3-06838e84dd1d'),
	(2, 2, 148, 'A kitchen needs a good scale.', 'pdfium', '[]', '01a20ace-fc59-701a-90f3-06838e84dd1d'),
	(3, 1, 0, '# Tea

Green tea is steeped at eighty degrees for two minutes. Boiling water makes it bitter.

## Harvest

The leaves of the second harvest are called Nibancha.', 'text', '[]', '01a20ace-fe61-708d-a6ad-c77dec7dc15c'),
	(4, 1, 0, 'The lamp in the hall is green. The door of the shed is red.', 'text', '[]', '01a20ace-fe61-708d-a6ad-c77e2f7ed2b3');
INSERT INTO public.embeddings_embedding VALUES
	('01a20ace-b7ca-732f-9c65-3d7161acb0ea', '[0.014804341,0.031365413,0.004594334,-0.0077575482,-0.044495337,0.029119326,-0.046851866,0.057846367,-0.021142593,0.057921175,0.009401033,-0.060688335,-0.041938577,-0.04019204,0.016550733,-0.06249979,0.033245098,-0.026215367,-0.008374197,-0.05093706,0.022954402,0.054916095,0.033187654,-0.01363996,0.011988276,-0.0019434541,0.09180793,0.010050293,-0.029626604,-0.09480666,-0.06301888,0.064066194,0.110551976,0.01788671,-0.028424427,0.046351198,0.112908036,0.01634702,0.08544057,0.07837538,0.028070848,-0.058114573,0.059402306,-0.024803778,-0.025370782,0.042063434,0.00060372666,0.01078623,0.037570316,-0.00014016981,0.017568683,0.019708026,0.06914255,-0.0032540483,-0.023120081,-0.030890739,-0.008087971,-0.03779343,-0.004433273,0.048121937,-0.039042175,0.062053297,-0.03885036,-0.031104462,0.040562194,-0.09448813,-0.0499405,0.05000122,0.017350703,0.02704594,-0.11994922,0.052924205,0.005994483,-0.02168426,-0.0186322,-0.02585502,0.094913855,-0.027904084,0.028168585,-0.13009381,-0.033276167,0.0057931575,0.04938517,0.021324417,-0.048838623,-0.047422305,0.051938806,0.092712045,0.054584544,0.0010006728,-0.0549987,-0.02708813,-0.015658384,-0.007774898,-0.07510008,0.0074908556,-0.018868068,0.010651922,0.009650557,-0.06267482,-0.0768197,0.012720005,0.056878015,0.020852432,0.07426391,0.027224207,-0.0063163745,-0.0035205535,0.017748436,0.009689323,0.0020026227,0.047504656,-0.04720688,-0.0015064277,0.04208596,-0.033006135,0.04186328,-0.051425952,-0.08976812,-0.020793136,-0.004173914,-0.0004434482,0.039805997,0.014327808,-0.1552635,0.014576936,0.05896784,1.8396797e-33,-0.046105556,0.06066152,-0.012706382,-0.01477676,-0.023344876,-0.07650834,-0.0747115,0.03383509,-0.0021721397,0.02438916,0.033224445,0.009366733,0.007205954,0.15606748,-0.024504168,-0.017299445,-0.0061794766,-0.026502412,-0.051495742,0.00071808754,-0.0069162357,0.013413226,-0.0061334344,-0.06541655,0.043706868,-0.031019619,0.054840002,0.027531179,-0.0700664,-0.06291242,0.16154356,-0.019088052,-0.050899446,-0.023170024,0.063338175,-0.061417732,0.0057523013,0.09225366,0.04525487,0.022572303,-0.026441922,-0.03269616,-0.005203231,-0.07207633,-0.020942528,-0.016673533,-0.016981153,0.047801655,0.09937505,0.06041952,0.07418801,0.039173167,0.06862887,0.03738879,0.023635065,0.010380195,-0.031675592,-0.01765822,0.011355437,0.04159606,0.026002666,0.08942837,0.0029158508,0.06431892,-0.06889192,-0.01751376,0.046400502,-0.016051548,0.042991403,0.040781546,0.012621147,-0.10083224,0.018692622,-0.05655334,-0.05807827,-0.053632483,0.051676095,0.038335517,-0.053808633,0.034435775,0.05775668,-0.097951606,-0.06831455,-0.029297521,-0.10410885,0.086826295,-0.008401251,0.0017107179,0.00984348,0.044584095,-0.023111805,-0.029605731,0.058629546,0.05483667,0.0667325,-2.6581974e-33,0.17593463,-0.0027849663,-0.021429488,-0.0039999564,-0.02269876,-0.050682776,0.07785027,0.03162227,-0.14659843,0.024117943,0.0010325462,-0.03195947,-0.011716814,-0.014154653,-0.0034181606,-0.030335477,0.042739537,0.047565535,0.020632569,-0.069745705,-0.0022235261,0.07605719,-0.09443336,-0.035851486,-0.0007872184,0.022602905,0.009159318,0.119903386,-0.14834766,-0.10518191,-0.00523635,-0.013279116,0.021051321,-0.031300362,-0.007948163,0.050952636,-0.12080627,0.06545847,0.01962435,-0.00041590672,-0.027969787,0.022190077,-0.013710082,-0.016134694,0.017777149,0.068212666,-0.0057177013,-0.07818527,0.045957223,0.028620953,0.073751576,-0.04200228,0.0021024535,-0.04661023,-0.032025672,0.010685054,-0.04745587,-0.021394137,0.0116212,-0.0014983842,0.016809385,-0.03108402,0.092185006,-0.046810456,-0.06639695,-0.053644847,-0.07879421,-0.00085688214,0.07710796,0.010170134,-0.017982021,0.0156154875,0.042721666,0.008267691,-0.098753124,0.045953248,-0.04180115,-0.09585333,-0.052165538,-0.051032204,-0.03597474,-0.07751569,-0.09038165,0.03936566,-0.0013230842,-0.019256078,-0.029231956,-0.057828747,0.044233028,0.010796871,0.019199863,-0.01720677,-0.0028665254,0.04243628,0.00694765,-2.7937569e-08,0.03461697,-0.060283467,0.0322976,0.087937474,0.0073627173,-0.033945724,0.036032777,-0.057395402,-0.016626282,0.021718582,-0.05980658,0.098502025,-0.006722867,0.06555981,0.005743754,-0.036517825,-0.0005722457,8.5845815e-05,0.01735206,-0.009144847,-0.023455305,-0.009553267,-0.036198445,-0.00079075724,0.010896537,0.04416363,0.107317604,0.018865073,0.07536531,-0.040092763,0.050020237,0.075387195,0.0069224415,0.0068770936,0.054754253,-0.015067496,-0.088754445,0.058384154,-0.09211563,-0.021440405,0.023464438,0.07225125,0.0028733835,-0.0397677,-0.108565204,-0.044153206,-0.09370368,0.056054723,0.045424826,0.021228185,0.07351034,0.018259766,0.030101119,0.0034569202,-0.026578426,0.03591767,-0.019289121,-0.050391518,0.045314904,0.05303299,-0.03636868,-0.02909625,-0.018293194,-0.091488026]', '2026-11-23 23:47:47.359171+00', '01a20ace-fc75-7021-b1b6-0201eff6b195', 1),
	('01a20ace-b7ca-732f-9c65-3d7161acb0ea', '[0.03078089,-0.0007979197,-0.035359997,0.039251104,-0.06773245,-0.019643491,-0.05547596,-0.019910542,0.017596127,-0.040359523,0.0036287892,-0.12177896,-0.06929876,0.06281142,0.00093778415,-0.15949322,0.05233218,0.07443023,-0.05927171,-0.016788187,-0.02157427,0.0114044985,0.016116377,0.024015559,0.054575186,-0.015889557,-0.04473461,0.026181122,0.028102836,-0.008255972,0.02922445,0.034422755,0.022928458,-0.011127889,0.0002756378,-0.03526048,0.016294578,-0.0059620957,0.012362184,-0.030227011,-0.0025064035,-0.013604943,0.08575376,-0.011804508,0.0387383,-0.032190572,-0.03511297,-0.008530447,0.0016911045,-0.070856676,-0.029307613,-0.015665406,-0.04659142,-0.054424707,0.03245423,0.03650146,0.078750886,-0.10656367,0.074799865,0.01741208,-0.028647255,0.015223865,-0.014498293,0.005314832,0.054961476,-0.020372394,-0.02354233,-0.036405947,-0.09572323,0.03168363,0.01544191,-0.055250324,0.08028752,0.052673668,0.09004573,-0.049908753,-0.1004296,-0.088074744,-0.016229957,0.048080914,-0.032457847,-0.018977374,-0.020701433,0.045373697,-0.014273617,-0.012827041,0.045342207,-0.045997307,0.01925494,-0.0019169131,0.0045871255,0.08156066,-0.07028256,-0.015983177,0.011370928,0.022631478,-0.060538415,-0.030320425,0.017550714,0.044248465,-0.06600152,0.08049402,0.08623554,0.018219339,-0.021125691,0.028619433,0.04253557,0.034386627,0.053444773,-0.035055105,0.04088015,0.0033138648,-0.053872,0.0034678616,0.07783569,-0.103016965,0.11341257,-0.11630197,-0.03768362,0.010130058,0.010208007,-0.056485817,-0.067142986,-0.009194775,-0.02979594,0.07566644,0.039588604,-7.3762e-33,-0.06429846,0.035302658,0.053250726,0.015440797,0.14061683,-0.05109464,-0.0492399,0.008166071,0.090835236,0.09288949,0.057324853,0.04955073,-0.06665043,0.06334752,0.06890353,-0.06823827,0.09544273,0.04762015,-0.06256753,0.014065371,-0.008131691,-0.08464349,0.018957572,0.020139225,0.027414856,-0.013552247,0.018931018,0.0392879,-0.026271898,-0.027184328,0.050929774,-0.003246332,-0.029941818,-0.026192382,-0.06884908,-0.04863449,-0.002224092,0.00912343,0.0023630273,-0.05682763,-0.033642367,0.03852994,0.010078852,0.046130758,-0.0086131105,0.07384447,0.056478836,0.11504577,-0.0061198943,0.0023860908,0.056534,0.012955035,0.012863429,0.04771517,0.033055127,0.042998977,0.08238939,-0.0062535903,0.026967369,0.0113092465,0.004277805,0.061689693,-0.0776761,0.07366683,0.03592223,0.028277207,-0.007692966,0.03508459,-0.011678697,0.0061266758,-0.03117914,-0.042699266,0.041917793,-0.002313715,-0.028137598,0.026291622,-0.06041347,-0.057627037,0.011789246,0.028648008,0.0061233495,0.017943686,0.017679118,-0.07798876,-0.05284339,0.019290477,-0.038670916,0.033024576,0.019315064,0.081425495,-0.010563113,-0.006869446,0.052274056,0.021582132,-0.11122947,5.357521e-33,-0.03206214,0.030210245,-0.096675895,0.10443952,0.048248935,0.0021576935,-0.0491963,-0.080823496,0.026014123,0.004108986,-0.0056169312,0.05641438,0.023077633,-0.03204426,0.008966022,0.028136509,0.012850474,-0.007756608,0.02115327,-0.02111273,0.053785954,0.010666479,-0.040885247,0.059676394,-0.036268257,0.056141037,-0.04214439,0.0012906316,-0.13000745,-0.056484405,-0.08369088,-0.1512576,0.14449327,-0.027027478,-0.006012394,-0.0321113,0.03598402,-0.091311365,-0.0626174,0.07137463,0.027148869,0.024004782,0.009157563,0.080788344,-0.03767387,0.0122253215,0.04092028,0.022245342,0.02479115,0.001654457,0.074419335,0.04573621,-0.02104434,-0.06797358,-0.034507938,0.038179923,0.001940125,-0.0042572785,0.030861119,0.059812546,-0.015742378,-0.017944552,-0.0030073172,0.111218385,0.0023201965,0.026204469,0.022375822,-0.022940552,-0.021535804,-0.00074545597,-0.0076760333,0.015112562,0.12805301,-0.027425384,-0.091951415,-0.07867253,0.0366305,-0.051214904,0.011255232,0.006680087,-0.034695406,-0.048398674,-0.03322738,0.0037615441,0.01065594,-0.09116353,0.03065147,-0.014124919,0.0060581816,0.14301376,-0.054758176,0.059461623,0.012134203,-0.12619433,0.029875487,-1.8171493e-08,-0.021936921,-0.017975777,-0.0076674786,0.0025671879,0.028340483,-0.012672312,0.09160811,-0.04361249,-0.007963607,0.06976673,0.013475358,-0.008937604,-0.018673144,0.1242945,0.0257079,-0.059198294,0.06381087,-0.00069790246,-0.057584062,-0.0144583415,0.02599902,0.048941836,0.034207057,-0.0155502,-0.0061222706,-0.032925844,-0.07864283,0.10446827,-0.042636096,0.04341065,0.026510758,-0.00096059113,0.0028923273,0.066656046,0.009399381,-0.0038770922,-0.12115818,0.017886886,-0.012247135,-0.07514111,-0.11640696,-0.038881913,-0.1023479,0.005423623,-0.045761418,0.036998104,-0.12105782,0.06653806,0.0054615163,0.050069965,0.029739577,-0.0149333095,0.04244372,-0.020803671,0.015563067,-0.06567522,0.035058185,0.002829699,-0.021732679,0.038367286,0.053379696,-0.0067143384,-0.063487984,-0.004135006]', '2026-11-23 23:47:47.359171+00', '01a20ace-fc76-742f-be8a-e98b04e3ad58', 1),
	('01a20ace-f9de-758d-ae15-7f191a2d3a78', '[-0.020110482,-0.04980356,0.056931194,0.003993997,0.0043025734,0.035051234,0.056792952,0.026402168,0.018009838,0.004404253,-0.04225631,-0.026852991,-0.0046689813,-0.01983523,0.07881612,-0.018958032,-0.013956457,-0.06866857,-0.051507648,-0.08247893,-0.009138623,0.008881235,-0.013368683,0.042550128,0.057400562,0.055132005,0.036252968,0.065621994,0.004574978,0.032738462,-0.041775756,0.09181175,-0.0049776766,0.007708933,-0.13260733,-0.020173829,-0.0075089447,-0.044191252,-0.043327592,-0.051138762,0.03507745,0.022572497,0.036193665,0.06532812,-0.010689613,0.08598494,0.010613425,-0.004522674,-0.014121789,-0.03355199,-0.06677354,0.0015212196,-0.047563463,0.04640636,-0.02454051,-0.058931164,0.0034846503,0.0042012036,0.015198585,0.08115055,-0.07670061,-0.026038036,-0.030257504,0.042077616,0.030912407,-0.01844392,-0.058876395,0.029125467,0.034851193,-0.020356268,-0.0021569296,0.024772028,0.027746331,-0.022496708,-0.012912492,0.0024967794,0.028107917,0.06261924,-0.030162783,0.07262174,-0.038594402,0.018356655,0.035654817,0.11752022,-0.040943187,-0.035052743,0.075341426,-0.0114495475,0.02706964,0.027198974,0.022358889,0.03658416,0.0047478825,0.04769272,-0.040476464,0.11164303,0.008800966,-0.034575965,-0.033315167,-0.05111547,-0.080608346,0.019091526,-0.105932005,-0.028933786,-0.042880528,-0.014161372,0.049129494,-0.04501734,0.08573983,-0.071623735,-0.034210026,-0.002937465,0.012726485,-0.019342937,-0.06310437,-0.030345952,0.025202792,-0.004943466,-0.028965505,-0.02190009,-0.056210082,-0.018901637,0.012449271,-0.010611423,-0.13199607,0.018838283,0.010209337,1.9396847e-33,-0.025253858,0.019025855,0.07815983,-0.018785862,0.08755409,-0.06629808,-0.0700806,0.04426483,-0.045873363,0.018456956,0.036588553,-0.06304893,-0.055929214,0.04091788,-0.004914992,-0.07940784,-0.033174805,0.052320354,0.0016983867,-0.011051268,0.016964499,-0.0073960456,0.030167898,0.008745759,-0.1005257,0.034406036,0.09804595,0.05725748,0.05746579,-0.008474644,0.03583338,-0.026244538,-0.051025677,0.0075574396,-0.045043897,-0.10439853,-0.027110254,0.033904523,0.07382951,0.16575854,0.0062162443,0.01918766,-0.0021432985,0.043898307,-0.041911565,0.004843243,-0.075204454,0.036957037,0.01674953,0.058574487,-0.023174427,0.091973506,0.07776096,0.104147986,0.0032085986,-0.02347309,0.01972165,0.039164495,0.029966487,-0.032275002,-0.041351933,0.008394344,0.014633099,-0.07115612,-0.047038563,0.0041797347,-0.09592225,-0.060490314,-0.00020310539,0.0011378918,0.018370023,0.017661376,-0.013751081,-0.090758875,0.049938157,-0.061123416,0.09207432,0.054550268,0.051355742,0.028916605,-0.041054126,-0.0056368965,-0.012262992,0.035984,-0.041240707,-0.020427754,-0.07062066,-0.053094417,0.015336085,0.067702286,-0.044220358,-0.050124016,7.471071e-05,0.05031804,-0.051175494,-1.4528703e-33,0.03358575,-0.02993298,-0.06496769,0.0876444,0.053806238,-0.14541613,0.06272385,0.019289695,0.08668884,0.063751005,0.042048983,0.022586074,-0.066050865,0.14775021,-0.0038566676,0.00597971,0.107106015,0.09717535,-0.015745614,0.04274564,0.011516916,-0.03380551,-0.038860917,0.015639417,0.04198436,0.057093497,0.04833871,-0.02672237,0.007235917,0.03433465,-0.016901031,0.05164035,-0.044360798,-0.015065841,-0.032123,-0.035579912,0.06208414,-0.07980241,0.02954382,0.07233316,0.062672675,-0.006520247,0.08359093,-0.03558693,0.020974038,-0.02715329,0.011515626,0.006003456,-0.06732049,0.16894542,0.06852137,0.041795745,-0.1146489,0.04825863,0.011079321,-0.09978665,-0.025232371,-0.054693572,-0.03515311,-0.10089795,-0.022948183,-0.010827911,-0.025706517,0.0038594988,-0.0144382715,0.059217505,-0.0529352,-0.03123998,0.03868296,-0.020717872,0.014602819,-0.09427503,-0.024713062,-0.07585582,0.03034495,-0.00024869293,0.010671837,0.02675145,0.032925088,-0.0026315404,0.00657226,0.04393575,-0.005805261,-0.06030465,-0.009615113,0.032807752,-0.010226945,0.05555921,-0.0063127335,0.05499954,0.0026874337,-0.11991548,0.0032050651,0.06911845,0.04101477,-2.3556208e-08,-0.037580665,-0.115457125,-0.027873315,0.15144135,-0.015450564,-0.00956999,-0.0021885177,-0.013185059,-0.0072353007,-0.019807773,0.040610127,0.09760778,0.016640857,0.025153996,-0.02433724,-0.03592775,-0.014394086,-0.004183077,-0.0059537026,0.009462885,-0.06658799,-0.0036255182,0.004143165,0.0066111665,-0.01704973,0.032104027,0.03741832,0.039431646,-0.00786199,-0.071163915,0.018293079,0.05204752,-0.0817129,0.047629688,-0.0526512,-0.06176955,0.028593794,0.1372789,0.0050231516,-0.06672946,-0.07778392,-0.039711885,-0.051219318,-0.00264654,-0.039957136,-0.05943069,-0.05031877,0.10369148,0.01277126,0.016687306,0.054618653,0.049430724,0.039114926,0.07048589,-0.010779173,-0.0073810914,-0.011622404,-0.03842173,-0.09783098,-0.054994613,0.025552062,-0.035463843,-0.00091503945,-0.095647246]', '2026-11-23 23:47:48.993753+00', '01a20acf-0428-769b-a818-afb4f4c01505', 1),
	('01a20ace-f9de-758d-ae15-7f191a2d3a78', '[-0.04337685,0.051652975,0.0024413716,0.068499796,-0.024681067,-0.040559445,0.09268467,-0.039865203,-0.013802411,-0.03914392,0.1112842,-0.08747154,-0.020946713,-0.023866026,-0.05817029,-0.013576612,0.012240889,-0.015240641,-0.00974281,-0.030445881,0.07910401,0.07191513,-0.013729773,-0.011533549,0.01378074,-0.018820615,-0.1564669,-0.0366601,0.057384543,-0.08308176,0.010436953,0.09800591,0.040732168,-0.03555872,-0.0137627665,0.044768345,-0.060789563,0.04161113,0.008882767,0.0032907464,0.056114648,-0.04336649,0.0020096388,-0.01097225,-0.030897893,0.045689058,-0.10123341,0.029972538,0.019326735,-0.048436493,0.010260123,-0.07386573,-0.031962514,0.06735841,0.07903775,-0.04372074,0.046557054,-0.104213476,0.022071304,0.1239844,0.02791557,0.06602007,-0.07143347,-0.06020005,0.05654582,-0.051282,-0.024317704,-0.058509104,-0.06586758,0.0029076512,0.07371563,0.007275356,0.044802792,-0.010720295,-0.055341,-0.0042687994,-0.0037769917,-0.006773664,-0.028714454,-0.028892623,-0.08106183,0.050070442,-0.014180933,0.025204238,-0.08498475,0.04166825,-0.08630381,0.0013528607,0.03067733,0.03132144,-0.040833313,0.031962965,-0.014641356,0.07812354,-0.180329,-0.0032500478,-0.032495406,0.008655643,-0.06625823,0.032991007,0.0043398375,0.008468891,0.02343806,-0.12752569,-0.11218839,-0.012167156,-0.039472677,-0.118142456,0.0989333,0.05370466,-0.010076167,-0.027029686,-0.04742326,0.015069726,-0.021650918,0.024040567,0.048952468,-0.028155949,-0.031060364,0.03517471,0.010021558,0.024989767,0.056126196,-0.009853748,0.009810699,0.0037966524,0.050063245,-2.6959875e-33,-0.0020250871,-0.062135503,-0.029552404,0.028812364,0.061007738,-0.023412464,-0.074285686,-0.021325951,-0.051328775,-0.08254279,-0.096169606,-0.058291893,-0.13053127,-0.02703689,0.048856113,-0.0677446,0.04084933,-0.047739234,0.058245845,0.04322077,0.025631895,0.033413425,-0.035160005,0.038427636,0.048043337,-0.0010004232,0.021372076,-0.03847772,0.0143590495,0.036275174,0.07993089,-0.020968545,-0.017624317,-0.009725752,-0.020544209,-0.027623206,0.10822785,0.057377186,-0.08828323,0.043552242,-0.055252306,0.07963692,0.020655137,0.019812282,0.027763532,0.0102659045,0.046084214,0.08144756,0.033127412,-0.010252306,-0.041494783,0.068949565,0.09639734,0.040494986,0.030160079,0.024806647,0.068981275,0.04888807,0.07028706,-0.007100205,0.02816614,0.008788443,0.016230907,0.021714386,0.075282305,-0.0453625,-0.0048947525,0.03151765,0.014688321,0.0134835355,-0.09187968,-0.02246806,0.03880928,0.04409534,0.06497729,-0.06215333,0.018960677,-0.0024336916,0.011518905,-0.030764105,0.0071001207,0.0004547251,-0.023269515,-0.023490308,-0.011079619,0.07486943,0.041199077,-0.034935366,-0.026706064,-0.08009109,-0.004271714,0.066048265,0.0038131576,-0.07785422,-0.040864285,1.223901e-33,0.047547147,0.034996487,-0.05662988,0.007847569,0.04833828,-0.012895516,-0.03092734,-0.021422327,-0.056773547,0.02899395,-0.048984986,0.031480737,-0.020990197,0.066838965,0.065365344,-0.014713715,0.0503687,0.10103793,-0.07796528,-0.048408896,-0.077807106,0.038482334,-0.10131165,-0.02255344,-0.013903683,0.05486826,0.017165631,0.093346596,0.029516295,-0.0127693,-0.040695813,-0.055346612,0.017083796,-0.039642736,-0.0050491323,0.022071619,0.05086291,-0.077823564,0.0061435215,0.084686734,0.03105359,0.02580121,0.048231762,0.067875944,-0.087105475,0.016439453,-0.005823494,0.07700035,-0.046745025,-0.02799436,0.09689979,0.021330312,-0.12868886,0.005191204,0.013116898,-0.031287815,0.054013476,0.0044345455,-0.04259319,-0.06046612,-0.05703692,-0.023723602,0.0043133013,-0.016559646,0.011299936,-0.033670843,0.008637109,0.034320697,-0.028459517,0.040397212,-0.035834637,0.051187422,-0.009532153,-0.06406372,-0.0896697,0.064976856,0.007473342,-0.015593122,0.028936222,-0.06755212,-0.015120294,-0.037750773,0.060867626,-0.02342823,0.049969062,-0.084399454,0.038315687,0.03175783,0.0345262,0.012857691,-0.024811639,0.0055717435,-0.024981024,0.043019306,0.0014196341,-1.9633708e-08,-0.007916168,-0.104455985,-0.027779315,0.05080083,0.07482362,-0.022158194,-0.016818307,0.010491718,0.013981479,0.0050757956,0.011665884,0.11480394,0.0035731974,0.055936098,0.033785984,-0.027104001,0.15662003,0.053562686,-0.012660104,-0.026503617,-0.095032796,-0.00050064956,-0.007741091,-0.07335258,-0.05482003,-0.0007934515,-0.051791236,0.029922431,0.009114451,0.025767129,0.051108614,0.06817601,-0.032487087,-0.012640592,-0.06113034,0.04001565,-0.052361343,0.05135506,0.053381585,-0.06723632,-0.029336559,0.002068876,-0.017530875,0.06255354,-0.08286754,-0.021265239,-0.02634677,-0.00022857786,0.008259555,-0.043124914,-0.02114977,-0.054470763,0.12861446,0.013840832,-0.006764263,0.017456966,0.025578272,-0.036360607,0.047366723,0.013624859,0.07900535,-0.01662501,0.08092398,0.021633435]', '2026-11-23 23:47:48.993753+00', '01a20acf-0428-769b-a818-afb57e1f18ef', 1),
	('01a20ace-f9de-758d-ae15-7f191a2d3a78', '[0.0126538705,0.03337825,-0.026966933,0.008877057,0.041951228,0.06668811,0.06625554,-0.026545681,0.036656644,0.051319063,0.017748406,-0.015219779,0.0039638723,-0.07121422,0.07417246,0.040013745,-0.08365577,-0.046458796,-0.07694466,-0.0455811,0.0523257,-0.032641396,-0.023870958,-0.08537122,-0.021505993,0.018408913,-0.0167147,0.044599522,0.02143144,-0.06765245,0.020109264,0.00051863963,-0.0473864,-0.03509749,-0.016209668,0.08502259,0.01683598,-0.07816478,0.03923817,0.009333937,-0.10067406,0.02351235,0.027876696,0.034138538,-0.07888287,0.015614532,-0.0071517993,0.017565401,-0.008154265,-0.12921116,0.0128884595,0.053562224,-0.02608442,0.091125146,0.01595533,0.13092737,0.06752762,-0.043654237,-0.006940426,-0.019885913,0.07944449,0.018779002,-0.059884053,-0.0044350736,-0.054847423,0.017811319,-0.024263514,-0.08385069,-0.019183755,-0.17904103,0.051858984,-0.002904687,0.042907562,-0.0120497,0.0025921124,-0.06348116,0.015973954,0.019131303,-0.03815166,0.018507497,0.032727215,0.06237255,-0.06297199,0.09595668,0.071728274,0.06805608,0.0037026366,0.072931394,-0.08260716,0.056806806,-0.06512713,-0.010338429,-0.107551515,0.0459421,-0.027610732,0.046296544,-0.05732204,0.021563241,0.032431293,0.037239596,0.059670027,-0.018884696,-0.032728855,-0.035013787,-0.069404095,-0.04653127,-0.01757582,0.107105784,0.034323256,-0.0693544,0.01441864,-0.026982974,-0.009659987,0.0657358,-0.046616938,-0.005588274,0.062917955,-0.04533802,-0.0052140797,0.07876247,0.15433298,0.028236482,-0.0083479015,0.02417805,-0.052891716,-0.10739241,-0.018029703,-6.216964e-33,0.032778483,0.029133918,0.020759735,-0.10635369,0.12418933,0.0139767155,-0.03579626,0.083275236,-0.041478887,0.009292492,0.022331176,-0.06066726,-0.022029089,-0.096328564,-0.049931698,-0.02403467,0.028237881,0.040967237,-0.034597423,-0.012740914,-0.024425153,0.083138555,-0.0037171787,0.05084921,0.0269885,-0.032975234,0.013761922,0.045373164,0.015599132,0.0060057915,0.028795918,0.031918503,0.06705413,0.058940314,0.020344332,-0.066408366,-0.018024817,-0.0002711804,-0.029236674,0.005137216,-0.059220035,0.024179215,-0.024551116,0.060882427,0.025060613,0.0018055409,-0.06272658,0.013022308,-0.022327054,0.027227554,-0.035609365,0.04943814,0.05092925,0.12870805,-0.047533657,-0.03573437,0.008518221,0.03308161,0.0035088968,-0.08816268,0.07846674,0.119357504,0.0082357945,-0.019427348,-0.019279862,-0.05255518,-0.039662153,0.020789968,-0.0020393413,0.015932461,-0.07087492,0.027629318,-0.018441403,-0.01383146,0.0012614395,-0.058931544,-0.015282239,0.012413115,-0.008064009,-0.008929576,-0.003888241,0.027639166,-0.05533847,0.039883222,-0.031571813,-0.030817943,-0.010983791,0.046760555,-0.052778117,0.0006552553,0.05083704,0.008393832,0.0072835432,-0.082775906,-0.039998114,3.2184587e-33,0.046948105,-0.028242646,-0.059283014,-0.043082442,0.06650438,-0.04242746,0.0014539575,-0.005992501,0.018633958,0.031419914,0.017580904,0.08454392,-0.018950649,0.13505588,0.03349854,0.02880691,-0.004254007,0.022454971,0.012783574,0.072640814,-0.050582543,0.017623596,-0.048894785,-0.04286049,-0.07177786,0.008338974,-0.012192949,0.03635192,-0.04606988,-0.012761653,-0.033209376,-0.07075779,-0.08398915,0.03705458,-0.031352054,-0.00945998,0.052509405,-0.17550488,-0.081111886,0.063717484,0.090155534,0.013317641,0.048408817,0.011724438,-0.040177044,-0.044820372,-0.08273774,0.023538956,-0.08712377,-0.020872558,0.10351678,0.07897705,-0.004036298,-0.033454206,0.005079331,0.006634902,-0.07703796,0.009506518,0.03330159,0.114696346,-0.029802581,-0.018805658,-0.06630875,0.1174277,0.021506986,-0.07321409,0.013761039,0.021559818,0.002555142,-0.007964778,0.036754567,0.024785936,-0.03694486,0.013631648,0.05298224,0.0052258847,0.009398539,0.013297205,0.003322378,0.05542176,0.022681603,-0.023664284,-0.010739111,-0.047284734,0.013312088,-0.10991267,0.003626567,0.07197881,-0.00078453583,-0.0926278,-0.03686516,0.072739944,0.028105116,-0.03062804,0.04591817,-2.2074534e-08,0.031694334,-0.003941886,-0.047146033,-0.032394372,0.07318748,-0.056569353,0.11143654,0.018121157,-0.0834765,0.00025394984,0.0013991019,0.054491475,0.005512355,0.00073764863,0.011915841,-0.003570646,-0.089164585,-0.044865828,0.045381967,0.03647634,0.05424914,-0.023187676,-0.028921353,0.070742786,-0.03004892,-0.0055378214,0.0035766792,-0.037568115,-0.07362068,0.12166624,0.06768016,0.05931259,0.031898487,-0.020203643,-0.05755326,0.03155199,-0.026627222,0.09627172,-0.020928487,-0.09227093,-0.010277565,-0.071662165,-0.07062985,0.010608575,0.034975186,-0.008097172,0.062432073,-0.016641425,0.0038786298,-0.035683244,-0.013510056,-0.023942178,0.011443454,-0.006150446,-0.015237774,-0.07197689,0.02174238,0.021950569,-0.031444594,-0.012019397,-0.0011780347,0.06154543,-0.036699012,0.025531072]', '2026-11-23 23:47:49.990864+00', '01a20acf-0805-7588-aa60-f4e9d3ada19a', 1);
INSERT INTO public.embeddings_embeddingmodel VALUES
	(1, 'all-MiniLM-L6-v2', 'local', 384, true, NULL, '2026-11-23 23:47:37.333382+00', '2026-11-23 23:47:37.333003+00', NULL, '{}', true, NULL);
INSERT INTO public.embeddings_embeddingrun VALUES
	('01a20ace-fc97-7373-8630-c55eda0277e8', 2, 2, 0, '2026-11-23 23:47:46.968481+00', 1),
	('01a20acf-042f-7420-868b-43ca28a410cc', 2, 2, 0, '2026-11-23 23:47:48.912119+00', 1),
	('01a20acf-080b-727d-a015-1ee091d35505', 1, 1, 0, '2026-11-23 23:47:49.899883+00', 1);
INSERT INTO public.embeddings_lexemecount VALUES
	(1, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'water', 1),
	(2, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'bread', 1),
	(3, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'degre', 1),
	(4, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'yeast', 1),
	(5, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'flour', 1),
	(6, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'everi', 1),
	(7, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'minut', 1),
	(8, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'fed', 1),
	(9, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'kitchen', 1),
	(10, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'scale', 1),
	(11, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'need', 1),
	(12, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'good', 1),
	(13, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'bacteria', 1),
	(14, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'bake', 1),
	(15, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'sourdough', 1),
	(16, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'forti', 1),
	(17, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '230', 1),
	(18, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'wild', 1),
	(19, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'rise', 1),
	(20, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'starter', 1),
	(21, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'loaf', 1),
	(22, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', 'day', 1),
	(23, '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '', 2),
	(24, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'minut', 1),
	(25, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'tea', 1),
	(26, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'green', 1),
	(27, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'steep', 1),
	(28, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'make', 1),
	(29, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'bitter', 1),
	(30, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'call', 1),
	(31, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'eighti', 1),
	(32, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'nibancha', 1),
	(33, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'two', 1),
	(34, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'water', 1),
	(35, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'leav', 1),
	(36, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'second', 1),
	(37, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'harvest', 1),
	(38, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'degre', 1),
	(39, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'boil', 1),
	(40, '01a20ace-f9de-758d-ae15-7f191a2d3a78', '', 2),
	(41, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'hall', 1),
	(42, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'green', 1),
	(43, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'door', 1),
	(44, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'shed', 1),
	(45, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'red', 1),
	(46, '01a20ace-f9de-758d-ae15-7f191a2d3a78', 'lamp', 1),
	(47, '01a20ace-f9de-758d-ae15-7f191a2d3a78', '', 1);
INSERT INTO public.embeddings_lexicalentry VALUES
	('01a20ace-fc75-7021-b1b6-0201eff6b195', '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '''230'' ''bacteria'' ''bake'' ''bread'' ''day'' ''degre'' ''everi'' ''fed'' ''flour'' ''forti'' ''loaf'' ''minut'' ''rise'' ''sourdough'' ''starter'' ''water'' ''wild'' ''yeast''', '{558386:1.5331,1588779:1.5331,1883505:1.5331,2192040:1.5331,3347675:1.5331,4011645:1.5331,4334476:1.5331,5133348:1.5331,5145223:1.5331,6114198:1.5331,6827254:1.5331,7818390:1.5331,10496401:1.5331,11494969:1.5331,12515399:1.5331,12799308:1.5331,13050581:1.5331,14629668:1.5331}/16777216'),
	('01a20ace-fc76-742f-be8a-e98b04e3ad58', '01a20ace-b7ca-732f-9c65-3d7161acb0ea', '''good'' ''kitchen'' ''need'' ''scale''', '{4597125:1.65414,8670867:1.65414,10735157:1.65414,16018501:1.65414}/16777216'),
	('01a20acf-0428-769b-a818-afb4f4c01505', '01a20ace-f9de-758d-ae15-7f191a2d3a78', '''bitter'' ''boil'' ''degre'' ''eighti'' ''green'' ''make'' ''minut'' ''steep'' ''tea'' ''two'' ''water''', '{2192040:1.58273,3347675:1.58273,8837043:1.841,10153506:1.58273,10403293:1.58273,13050581:1.58273,13273703:1.58273,13399663:1.58273,13703771:1.58273,14389525:1.58273,16278140:1.58273}/16777216'),
	('01a20acf-0428-769b-a818-afb57e1f18ef', '01a20ace-f9de-758d-ae15-7f191a2d3a78', '''call'' ''harvest'' ''leav'' ''nibancha'' ''second''', '{2036074:1.63569,2625668:1.63569,9318207:1.63569,12442424:1.87633,16437587:1.63569}/16777216'),
	('01a20acf-0805-7588-aa60-f4e9d3ada19a', '01a20ace-f9de-758d-ae15-7f191a2d3a78', '''door'' ''green'' ''hall'' ''lamp'' ''red'' ''shed''', '{6254678:1.63569,6381456:1.63569,9414720:1.63569,10153506:1.63569,15029294:1.63569,16208487:1.63569}/16777216');
INSERT INTO public.embeddings_sentencevectors VALUES
	('{0,49,50,100,101,147}', '{"[0.0050201416,0.023025513,0.009414673,-0.043548584,-0.001241684,0.03543091,-0.039001465,0.075683594,-0.015602112,0.07116699,-0.022201538,-0.04724121,-0.046142578,-0.0076408386,0.007091522,-0.027282715,0.0031909943,-0.013404846,0.03086853,-0.023269653,0.038970947,0.097595215,0.036712646,-0.029815674,0.0042877197,-0.021408081,0.08477783,0.037628174,-0.050079346,-0.10272217,-0.0154953,0.07220459,0.08087158,0.0052337646,-0.0072021484,0.042785645,0.10144043,0.011627197,0.10253906,0.08996582,0.015113831,-0.079956055,0.055511475,-0.01889038,-0.01965332,0.015327454,0.00157547,0.006652832,0.016540527,-0.04055786,0.0023155212,0.0072364807,0.056549072,0.016220093,-0.009117126,-0.061584473,0.0054626465,-0.05960083,0.009056091,0.017730713,-0.055603027,0.04498291,-0.022659302,-0.04714966,0.022003174,-0.071777344,-0.041931152,0.06451416,0.0087509155,0.021469116,-0.11663818,0.011810303,-0.017105103,0.033081055,0.0014295578,-0.010574341,0.07269287,-0.02607727,0.031051636,-0.1159668,-0.041778564,0.00844574,0.042785645,0.011123657,-0.023925781,-0.061798096,0.04574585,0.038726807,0.021728516,0.010925293,-0.077697754,-0.043640137,-0.031173706,0.019470215,-0.06311035,0.0064888,-0.024383545,-0.027511597,0.046081543,-0.08001709,-0.054473877,0.025253296,0.045715332,0.030639648,0.053375244,0.028823853,-0.0087890625,0.0014362335,0.03640747,0.0056114197,0.002658844,0.029663086,-0.0947876,0.0037841797,0.01991272,-0.050567627,0.07208252,-0.058410645,-0.15563965,-0.021820068,0.0013942719,-0.01977539,0.041290283,0.023834229,-0.12902832,0.029067993,0.017608643,0,-0.028900146,0.035247803,-0.028762817,-0.035217285,-0.008995056,-0.06903076,-0.072509766,0.03225708,-0.01878357,0.05053711,0.041381836,0.0068511963,-0.0024852753,0.12512207,-0.03387451,-0.0077171326,-0.033599854,-0.012496948,-0.05407715,-0.0011520386,0.010025024,0.06689453,-0.004924774,-0.07385254,0.019165039,-0.011238098,0.04763794,0.043762207,-0.068725586,-0.052459717,0.13513184,-0.050323486,-0.0357666,-0.033813477,0.080200195,-0.038391113,-0.021987915,0.053833008,0.038024902,0.008865356,-0.022598267,-0.026504517,-0.009033203,-0.073791504,-0.014816284,-0.02142334,-0.034942627,0.028381348,0.09033203,0.056884766,0.06958008,0.014533997,0.054534912,0.045684814,0.009033203,-0.0065307617,-0.02696228,0.008010864,0.042938232,0.050964355,0.023208618,0.13464355,0.014717102,0.06842041,-0.05984497,-0.06707764,0.037078857,0.0074043274,0.041931152,0.0440979,-0.014213562,-0.06677246,-0.01586914,-0.025863647,-0.060028076,-0.03387451,0.0256958,0.044006348,0.009643555,0.016647339,0.03189087,-0.10180664,-0.047973633,-0.017623901,-0.1307373,0.09313965,-0.0029449463,-0.021972656,0.012390137,0.038970947,-0.038635254,-0.008880615,0.0715332,0.024307251,0.064086914,-0,0.18017578,-0.005554199,-0.023452759,-0.03970337,-0.04095459,-0.040374756,0.07409668,0.016586304,-0.1673584,0.047607422,0.026351929,-0.0035858154,0.026565552,-0.007835388,0.05557251,-0.02003479,0.032836914,0.04638672,0.028869629,-0.09265137,0.015235901,0.12988281,-0.121398926,-0.016937256,-0.005748749,0.025894165,0.016082764,0.16564941,-0.17224121,-0.1071167,-0.011222839,-0.012062073,0.0004518032,-0.01777649,0.009216309,-0.0022506714,-0.12207031,0.03933716,0.00011843443,-0.02557373,-0.03353882,0.034240723,-0.018173218,-0.0072898865,0.04522705,0.07342529,-0.009246826,-0.059509277,0.034851074,0.03491211,0.06524658,-0.01713562,0.023788452,-0.04360962,-0.06817627,0.00025892258,-0.04272461,-0.009422302,0.03466797,0.004760742,0.000995636,-0.02178955,0.08520508,-0.05029297,-0.007041931,-0.07128906,-0.069885254,0.0029258728,0.0970459,0.021270752,-0.017501831,0.039031982,0.064941406,-0.000682354,-0.06652832,0.048736572,-0.057861328,-0.06500244,-0.02885437,-0.029922485,-0.026809692,-0.06463623,-0.044189453,0.04473877,0.01927185,-0.022079468,-0.029891968,-0.06970215,0.035888672,-0.010192871,0.005634308,-0.016098022,-0.0473938,0.0025634766,-0.0062942505,-0,0.047912598,-0.049560547,0.012176514,0.10424805,-0.00013625622,-0.052368164,0.021713257,0.0028705597,-0.022521973,0.019104004,-0.09472656,0.0690918,-0.033843994,0.070739746,0.024795532,-0.011352539,-0.038360596,-0.0040512085,-0.007209778,0.0032615662,-0.019973755,-0.0012931824,-0.021148682,0.0061416626,-0.0036010742,0.027053833,0.07537842,0.019165039,0.06536865,-0.05545044,0.046875,0.11871338,0.03086853,0.008880615,0.07318115,-0.0152282715,-0.064453125,0.0491333,-0.07092285,-0.023361206,0.019439697,0.06890869,0.0075187683,-0.005191803,-0.11029053,-0.051361084,-0.076660156,0.07281494,0.04849243,-0.015045166,0.05343628,-0.018203735,0.022857666,-0.00046157837,-0.021133423,0.03149414,-0.011833191,-0.029922485,0.043792725,0.07098389,-0.0013370514,-0.06378174,0.03439331,-0.085876465]","[0.014266968,0.026473999,0.0034732819,0.028747559,-0.020843506,0.013519287,-0.02520752,0.010276794,-0.034179688,0.04812622,0.02178955,-0.037963867,-0.053588867,-0.045196533,-0.013130188,-0.10144043,0.036102295,-0.051452637,-0.044525146,-0.026306152,0.0024108887,0.005844116,0.025375366,-0.009117126,0.013999939,0.021270752,0.110839844,-0.021194458,0.016952515,-0.08477783,-0.06689453,0.06677246,0.12573242,0.016952515,-0.06304932,0.03817749,0.11425781,0.0066223145,0.02659607,0.07312012,0.010772705,-0.045166016,0.0546875,-0.0149383545,-0.050201416,0.0284729,0.002878189,0.024597168,0.047607422,0.009651184,0.038269043,0.020050049,0.07897949,-0.004676819,-0.029418945,-0.0096206665,-0.005897522,-0.015350342,-0.0013198853,0.053527832,-0.05517578,0.064331055,-0.050598145,-0.040771484,0.043182373,-0.08685303,-0.04827881,0.054901123,0.028121948,0.02218628,-0.11566162,0.08935547,0.029403687,-0.046051025,-0.041168213,-0.01171875,0.10205078,-0.029403687,0.053527832,-0.0914917,-0.04006958,0.01838684,0.058135986,0.057159424,-0.041046143,-0.016296387,0.017440796,0.07556152,0.034606934,-0.01991272,-0.012504578,-0.0107421875,0.007411957,-0.037963867,-0.054779053,0.027313232,-0.02331543,0.044403076,-0.010726929,-0.10308838,-0.07147217,0.02154541,0.07287598,0.03314209,0.07885742,0.03390503,-0.026062012,0.0022068024,-0.0073280334,0.025161743,0.0050735474,0.056793213,-0.00086545944,-0.008377075,0.044952393,-0.018066406,0.023361206,-0.051727295,-0.047790527,0.017929077,0.0022602081,-0.006298065,0.04525757,0.012573242,-0.16015625,0.018417358,0.08154297,0,-0.05026245,0.047454834,0.0075263977,0.00819397,-0.056152344,-0.068237305,-0.083496094,0.020843506,0.01373291,-0.03265381,0.026412964,0.022384644,0.0029678345,0.15039062,-0.037261963,-0.039367676,-0.019577026,-0.06976318,-0.04119873,0.013366699,-0.016433716,-0.0038471222,0.0037765503,-0.060516357,0.06173706,-0.06689453,0.053527832,0.02017212,-0.032714844,-0.075927734,0.16455078,-0.008102417,-0.080200195,-0.018829346,0.04586792,-0.074523926,0.04345703,0.0960083,0.019470215,0.01474762,-0.010955811,-0.025878906,-0.0040512085,-0.07861328,-0.046905518,-0.029937744,-0.012176514,0.03930664,0.122924805,0.050689697,0.08117676,0.015159607,0.033172607,0.03793335,-0.009933472,0.010215759,-0.04232788,-0.058776855,0.017486572,0.0068740845,-0.0005455017,0.03555298,-0.026397705,0.10870361,-0.03756714,0.03756714,0.05279541,-0.031021118,0.049957275,0.05340576,0.018997192,-0.107055664,0.003255844,-0.03387451,-0.06628418,-0.021408081,0.031799316,0.043701172,-0.07897949,0.029769897,0.065979004,-0.09307861,-0.070373535,0.025146484,-0.076293945,0.07470703,-0.02557373,0.016525269,0.054870605,0.040618896,0.041229248,-0.06112671,0.04498291,0.06463623,0.074279785,-0,0.12963867,0.017608643,-0.023391724,0.0041618347,-0.04272461,-0.06689453,0.046813965,0.018936157,-0.07342529,0.0335083,-0.034484863,-0.031555176,-0.029464722,0.0001411438,-0.024108887,-0.035339355,0.016326904,0.060180664,-0.012741089,-0.042510986,-0.004119873,0.05569458,-0.086364746,-0.07861328,0.013618469,0.008804321,0.01272583,0.107910156,-0.13952637,-0.07543945,0.022079468,-0.020614624,0.038116455,-0.05480957,-0.013000488,0.066833496,-0.12902832,0.048309326,0.019592285,0.041229248,-0.029327393,0.022979736,0.026138306,-0.019317627,-0.03100586,0.05496216,-0.016815186,-0.08673096,0.026428223,0.0065345764,0.070251465,-0.038848877,-0.002117157,-0.034301758,-0.005130768,0.019256592,0.007949829,-0.02053833,-0.0345459,-0.013702393,0.03286743,-0.042266846,0.062927246,-0.06088257,-0.09326172,-0.05303955,-0.07788086,0.020904541,0.039794922,0.0087509155,-0.010398865,-0.01826477,0.072631836,-0.0028152466,-0.122924805,0.07110596,-0.037902832,-0.071899414,-0.025558472,-0.053009033,-0.029373169,-0.07519531,-0.10369873,0.019439697,-0.03805542,-0.021987915,-0.05770874,-0.036315918,0.020217896,0.056274414,-0.011810303,-0.045410156,-0.008552551,0.092163086,0.034118652,-5.9604645e-08,-0.01512146,-0.06842041,0.05291748,0.057647705,0.026855469,-0.03274536,0.07684326,-0.062683105,0.0011377335,0.036743164,-0.04977417,0.10546875,-0.012107849,0.0029506683,0.015640259,-0.011291504,0.02468872,0.016830444,-0.006214142,-0.008605957,-0.04135132,-0.016708374,-0.026992798,-0.002161026,0.017196655,0.048187256,0.11383057,0.032470703,0.07543945,0.011550903,0.06982422,0.057373047,0.009979248,0.00091362,-0.019515991,-0.008293152,-0.074035645,0.047210693,-0.09674072,-0.03390503,0.055480957,0.088012695,0.011619568,-0.06390381,-0.0869751,-0.010246277,-0.09509277,0.011497498,0.03881836,0.0368042,0.07763672,0.019897461,0.041992188,0.010848999,-0.03552246,0.04949951,-0.0063285828,-0.044830322,0.036071777,0.023406982,-0.07476807,0.00333786,0.012680054,-0.07147217]","[0.02218628,0.038269043,-0.0032978058,-0.0052337646,-0.09906006,0.020690918,-0.05731201,0.046905518,-0.0065307617,0.04309082,0.032440186,-0.07342529,-0.008560181,-0.06842041,0.054473877,-0.044036865,0.04800415,-0.021026611,-0.026138306,-0.08453369,0.022506714,0.025238037,0.022750854,0.0035552979,0.016479492,-0.003227234,0.06616211,-0.0023078918,-0.047790527,-0.04248047,-0.09118652,0.040924072,0.10095215,0.033477783,-0.025054932,0.048675537,0.09185791,0.025863647,0.073913574,0.035858154,0.050079346,-0.025039673,0.045074463,-0.033050537,-0.008216858,0.07086182,0.0038013458,-0.0010118484,0.046081543,0.036376953,0.023986816,0.0340271,0.05682373,-0.03237915,-0.021743774,-0.0018844604,-0.029205322,-0.014556885,-0.021697998,0.057647705,-0.005924225,0.062805176,-0.032226562,-0.010551453,0.054840088,-0.08868408,-0.043548584,0.018936157,0.017059326,0.025985718,-0.097961426,0.064453125,0.011428833,-0.06100464,-0.016326904,-0.0546875,0.09082031,-0.016281128,0.003314972,-0.1496582,-0.0008573532,-0.020568848,0.03665161,-0.010093689,-0.060760498,-0.03982544,0.06365967,0.15527344,0.07977295,0.013442993,-0.05291748,-0.017700195,-0.015380859,-0.014968872,-0.08850098,-0.007205963,-0.002248764,0.027160645,-0.018432617,-0.10168457,-0.0814209,-0.016967773,0.037994385,-0.0067481995,0.0647583,0.01687622,0.01373291,-0.005744934,2.7775764e-05,0.010810852,0.0009570122,0.043701172,-0.013450623,-0.00793457,0.054351807,-0.006111145,0.0041007996,-0.018966675,-0.019454956,-0.0357666,-0.01499939,0.029220581,0.027404785,-0.005180359,-0.13977051,0.017944336,0.069885254,0,-0.05078125,0.082214355,-0.0058250427,-0.009963989,-0.01826477,-0.07550049,-0.045959473,0.04309082,0.016555786,0.036468506,0.027313232,-0.003932953,0.021194458,0.15344238,-0.00969696,-0.0075569153,0.039367676,0.002002716,-0.039489746,-0.00919342,-0.011352539,-0.042755127,-0.011512756,-0.04019165,0.039123535,-0.015731812,0.044952393,0.011932373,-0.08355713,-0.035217285,0.13793945,0.010543823,-0.035186768,-0.003917694,0.044189453,-0.050323486,0.008468628,0.12298584,0.070373535,0.04815674,-0.033447266,-0.048980713,0.010665894,-0.052246094,0.00491333,0.011978149,-0.00043082237,0.052764893,0.06036377,0.05770874,0.047576904,0.06719971,0.10076904,0.013053894,0.05206299,0.029724121,-0.014297485,-0.010627747,-0.036071777,0.041809082,0.05065918,0.06149292,0.018249512,0.012016296,-0.088378906,-0.0063476562,0.04498291,-0.028045654,0.02456665,0.014228821,0.03652954,-0.1038208,0.0680542,-0.100097656,-0.037963867,-0.08514404,0.09185791,0.0073165894,-0.097961426,0.0440979,0.068359375,-0.05596924,-0.06945801,-0.07293701,-0.06451416,0.061309814,-0.0029659271,0.02041626,-0.02420044,0.04812622,-0.05923462,-0.017578125,0.0413208,0.06750488,0.04824829,-0,0.16601562,-0.011070251,-0.016082764,0.030792236,0.023712158,-0.035186768,0.080322266,0.062805176,-0.14428711,-0.009132385,-0.008049011,-0.05895996,-0.039642334,-0.030578613,-0.06317139,-0.030853271,0.07861328,0.022033691,0.028564453,-0.04626465,-0.012565613,0.014533997,-0.04901123,-0.029327393,-0.0061073303,0.01386261,-0.004310608,0.049041748,-0.091552734,-0.09399414,-0.026641846,0.0046463013,0.022140503,-0.023544312,-0.017196655,0.08508301,-0.08111572,0.10046387,0.03845215,0.0019483566,-0.017913818,0.0011310577,-0.034362793,-0.029342651,0.01626587,0.048431396,0.013809204,-0.071899414,0.052246094,0.032287598,0.05508423,-0.06976318,-0.022903442,-0.045074463,0.0009441376,0.010566711,-0.08099365,-0.027938843,0.02444458,0.0013847351,0.011192322,-0.030441284,0.10058594,-0.018569946,-0.09411621,-0.020736694,-0.066711426,-0.013710022,0.05810547,-0.008232117,-0.027389526,0.0079574585,-0.00617218,0.017196655,-0.09741211,0.018417358,-0.016342163,-0.119628906,-0.07751465,-0.05090332,-0.05307007,-0.06652832,-0.10522461,0.031829834,-0.0050621033,-0.016738892,-0.0025806427,-0.048583984,0.060668945,-0.0064849854,0.055633545,0.006324768,0.04711914,0.04034424,-0.003501892,-0,0.04574585,-0.046722412,0.031463623,0.0574646,-0.006427765,-0.014724731,0.019973755,-0.10424805,-0.01966858,-0.0065841675,-0.0030021667,0.09326172,0.03274536,0.07940674,-0.022491455,-0.074279785,0.020462036,-0.0038719177,0.053222656,-0.021072388,-4.273653e-05,-0.016235352,-0.052215576,-0.0068893433,0.016815186,0.04937744,0.103637695,0.01939392,0.06341553,-0.05178833,0.014480591,0.027175903,-0.0256958,0.002035141,0.08319092,-0.025894165,-0.097473145,0.060546875,-0.08154297,0.0007004738,-0.004940033,0.041168213,-0.01197052,-0.04248047,-0.1015625,-0.056030273,-0.0904541,0.063964844,0.04284668,0.044067383,0.0670166,0.04852295,0.011367798,-0.0006093979,-0.010383606,0.014297485,-0.02798462,-0.055236816,0.045166016,0.035888672,-0.036590576,-0.0009188652,-0.08703613,-0.09246826]"}', '01a20ace-fc75-7021-b1b6-0201eff6b195', 1),
	('{0,29}', '{"[0.018875122,0.0043907166,-0.039215088,0.028747559,-0.070739746,-0.023910522,-0.06549072,-0.013900757,0.014633179,-0.039978027,0.0061950684,-0.12597656,-0.062805176,0.06744385,-0.0021800995,-0.1427002,0.0491333,0.074645996,-0.06384277,-0.015655518,-0.027008057,0.010658264,0.020187378,0.026367188,0.050048828,-0.019439697,-0.049041748,0.023834229,0.025115967,0.011756897,0.03665161,0.037109375,0.03427124,-0.016113281,-0.005722046,-0.03189087,0.019729614,-0.010131836,0.009414673,-0.02734375,-0.0032291412,-0.0064697266,0.07702637,-0.0013837814,0.031234741,-0.0423584,-0.026153564,-0.0017271042,0.00415802,-0.06713867,-0.024139404,-0.015716553,-0.041259766,-0.056427002,0.01914978,0.038024902,0.07269287,-0.09649658,0.06262207,0.01309967,-0.03213501,0.015281677,-0.008644104,-0.0020694733,0.07086182,-0.021835327,-0.023727417,-0.04336548,-0.089538574,0.035339355,0.019317627,-0.054595947,0.07080078,0.054229736,0.07977295,-0.055023193,-0.10437012,-0.078308105,-0.009506226,0.05630493,-0.029342651,-0.024749756,-0.015144348,0.054016113,-0.009422302,-0.013259888,0.046539307,-0.051940918,0.019378662,0.00030755997,0.0047912598,0.08520508,-0.08068848,-0.011978149,0.023147583,0.022994995,-0.053253174,-0.041290283,0.015975952,-0.06707764,-0.05166626,0.076538086,0.09094238,0.008384705,-0.02520752,0.023651123,0.04385376,0.03262329,0.05291748,-0.03074646,0.04031372,0.00037121773,-0.06854248,0.0077285767,0.08013916,-0.10089111,0.10595703,-0.10058594,-0.042877197,0.010910034,0.0075531006,-0.062194824,-0.06677246,-0.008293152,-0.027648926,0.10827637,0.0435791,-0,-0.06640625,0.042510986,0.05014038,0.01776123,0.1307373,-0.0435791,-0.05593872,0.01234436,0.08337402,0.08508301,0.05343628,0.068115234,-0.0574646,0.068847656,0.07208252,-0.070495605,0.093322754,0.049743652,-0.06329346,0.008811951,-0.0095825195,-0.092285156,0.019317627,0.012825012,0.022064209,-0.016067505,0.021133423,0.039733887,-0.026565552,-0.02166748,0.0463562,-0.0087890625,-0.031204224,-0.025360107,-0.066467285,-0.04434204,-0.00920105,0.0154953,-0.00055503845,-0.050628662,-0.020996094,0.038330078,0.014015198,0.042053223,-0.0024642944,0.06964111,0.061462402,0.09820557,-0.013763428,-0.0052833557,0.055358887,0.0051498413,0.018447876,0.045532227,0.031204224,0.042022705,0.082336426,-0.0058555603,0.02508545,0.00881958,0.008354187,0.057769775,-0.074279785,0.076171875,0.044921875,0.025283813,-0.014602661,0.026229858,-0.021011353,0.003484726,-0.029434204,-0.03439331,0.047088623,0.0034561157,-0.038238525,0.037872314,-0.055755615,-0.060180664,0.0047836304,0.03265381,0.0024929047,0.015541077,0.028640747,-0.07318115,-0.055603027,0.011024475,-0.04724121,0.036102295,0.016159058,0.08001709,-0.015945435,-0.004425049,0.051879883,0.020217896,-0.10974121,0,-0.036010742,0.033569336,-0.08905029,0.10839844,0.06011963,0.011558533,-0.05218506,-0.08215332,0.033416748,0.007507324,-0.0058059692,0.056152344,0.02607727,-0.031097412,0.019973755,0.029907227,0.0049972534,-0.0146102905,0.022491455,-0.02041626,0.05267334,0.015853882,-0.03842163,0.064453125,-0.03591919,0.046661377,-0.0541687,-0.0038585663,-0.1361084,-0.061462402,-0.079956055,-0.1508789,0.1517334,-0.025405884,-0.006893158,-0.034057617,0.04446411,-0.09338379,-0.06536865,0.0725708,0.026687622,0.017456055,0.010948181,0.06945801,-0.037506104,0.0052719116,0.045654297,0.023239136,0.018722534,0.01158905,0.07562256,0.04638672,-0.02078247,-0.062072754,-0.032470703,0.03652954,0.0034065247,-0.011985779,0.029953003,0.052642822,-0.017944336,-0.02432251,-0.0070266724,0.10662842,0.008399963,0.024429321,0.027053833,-0.014335632,-0.022903442,-0.00016641617,-0.0061187744,0.003736496,0.14782715,-0.036499023,-0.093444824,-0.081848145,0.045715332,-0.053771973,0.017608643,0.012702942,-0.042633057,-0.05456543,-0.035125732,0.011978149,0.013946533,-0.09112549,0.03314209,-0.014167786,0.0061569214,0.14660645,-0.0496521,0.052764893,0.0045318604,-0.12207031,0.027496338,-0,-0.025619507,-0.01512146,-0.00819397,0.00079774857,0.015457153,-0.019317627,0.09564209,-0.04751587,-0.013198853,0.0670166,0.011787415,-0.014770508,-0.022857666,0.12976074,0.019927979,-0.055480957,0.061950684,0.0034370422,-0.06665039,-0.01890564,0.01159668,0.04473877,0.033416748,-0.010719299,-0.0042419434,-0.02394104,-0.07598877,0.12042236,-0.044311523,0.040161133,0.027511597,0.008346558,0.005756378,0.062469482,0.009101868,-0.004146576,-0.12084961,0.023071289,-0.005138397,-0.08496094,-0.10046387,-0.034088135,-0.10095215,0.013587952,-0.046722412,0.030929565,-0.12133789,0.066589355,0.008621216,0.04269409,0.028320312,-0.011581421,0.027832031,-0.017578125,0.012878418,-0.064086914,0.026412964,0.007080078,-0.029571533,0.033721924,0.049560547,-0.007965088,-0.06341553,-0.0076828003]"}', '01a20ace-fc76-742f-be8a-e98b04e3ad58', 1),
	('{0,5,7,62,63,93}', '{"[0.00025749207,-0.015930176,0.11529541,-0.034484863,0.029510498,0.03829956,0.13244629,0.02810669,0.019012451,-0.053894043,-0.035308838,0.08502197,-0.022903442,-0.06915283,0.0015716553,-0.034179688,-0.016662598,-0.07446289,-0.011405945,-0.039031982,0.02368164,0.0126953125,0.0029678345,0.03387451,0.061828613,0.038391113,-0.024429321,-0.009017944,0.010040283,0.019836426,-0.016235352,0.13586426,-0.038116455,-0.024932861,-0.03894043,-0.042663574,-0.022094727,-0.029388428,-0.058746338,0.0060272217,-0.0016288757,-0.014862061,-0.0067634583,0.037719727,-0.031463623,0.08239746,-0.020339966,0.012466431,-0.064697266,-0.02180481,-0.018432617,-0.022201538,-0.0053749084,0.093566895,-0.04623413,-0.08874512,-0.026138306,0.0020446777,0.032287598,0.0524292,-0.072509766,0.00053310394,-0.029449463,-0.007949829,0.028961182,-0.01802063,-0.045654297,0.07269287,0.016815186,0.06072998,-0.025390625,0.018997192,0.033569336,-0.022094727,0.002149582,0.050628662,-0.056396484,0.022842407,0.018325806,0.06707764,-0.1015625,0.032470703,0.019515991,0.13659668,-0.0635376,-0.038909912,0.026916504,0.011856079,0.03378296,-0.005886078,0.045928955,0.09118652,-0.025238037,0.02078247,-0.06591797,0.048217773,0.04864502,-0.020263672,-0.042114258,-0.055755615,-0.0019521713,0.03277588,-0.035705566,-0.037322998,-0.03717041,0.013824463,0.042114258,-0.03829956,0.103637695,-0.026672363,0.00983429,-0.018814087,-0.09680176,-0.030090332,0.017089844,-0.11376953,0.0184021,0.015731812,-0.047668457,-0.06341553,0.009208679,-0.025177002,0.012397766,-0.02368164,-0.06524658,0.01739502,-0.04260254,0,-0.013046265,-0.019439697,0.0256958,0.056732178,0.06124878,0.0024776459,-0.022033691,0.031173706,-0.010375977,0.03225708,-0.09326172,-0.00894928,-0.043273926,-0.05831909,-0.03152466,-0.080200195,-0.0713501,0.025421143,-0.023986816,-0.005077362,0.08251953,-0.019332886,0.06341553,-0.02128601,-0.08190918,0.045715332,0.058746338,0.024124146,0.03781128,0.029907227,0.028030396,-0.039154053,-0.057922363,0.0049324036,-0.055419922,-0.15441895,0.0057678223,0.023468018,-0.0075683594,0.022277832,0.033203125,0.016967773,-0.04550171,-0.03427124,-0.047851562,0.0064849854,-0.0029964447,0.08343506,0.08728027,0.04034424,-0.04437256,0.1352539,-0.03552246,0.030334473,0.101867676,-0.040924072,0.030044556,0.066101074,0.012481689,-0.030319214,-0.018096924,-0.03933716,0.023254395,-0.080566406,-0.03225708,-0.0814209,-0.009925842,-0.03967285,5.1498413e-05,-0.018005371,0.005355835,0.06964111,0.040527344,0.00037550926,-0.004634857,-0.04800415,0.10797119,0.011001587,0.016815186,0.074279785,-0.07611084,-0.013771057,0.039123535,-0.0047836304,0.025039673,0.035308838,-0.0056381226,-0.070251465,0.014022827,0.004760742,0.03152466,-0.034423828,-0.076293945,0.061706543,-0.095458984,-0,0.011749268,0.020751953,-0.07495117,0.022979736,-0.0048713684,-0.1105957,0.03387451,-0.07550049,0.11694336,0.078186035,0.09906006,0.039398193,-0.03704834,0.10668945,0.0011062622,-0.008728027,0.07196045,0.06744385,-0.05456543,0.02960205,-0.0063095093,-0.07861328,-0.022384644,0.036224365,-0.015960693,0.05038452,0.057373047,0.10614014,0.07678223,-0.051330566,-0.021011353,0.0758667,0.02861023,0.044799805,-0.013305664,-0.039642334,0.06500244,-0.052825928,0.01977539,0.12792969,0.030258179,-0.033843994,0.09613037,-0.011634827,-0.015289307,-0.038116455,0.031921387,0.018173218,-0.002439499,0.07067871,0.0043678284,0.015586853,-0.08319092,-0.010826111,0.033935547,-0.029754639,-0.014305115,0.016433716,-0.05734253,-0.04296875,-0.017486572,-0.0018281937,0.010429382,-0.0075798035,-0.006652832,-0.0074539185,-0.06262207,-0.06335449,-0.011688232,-0.0045928955,-0.033721924,-0.060028076,0.003004074,-0.107910156,-0.046936035,0.032165527,0.095214844,0.05117798,0.07287598,0.011665344,0.01878357,0.0513916,-0.022109985,-0.038238525,0.04055786,0.09472656,0.0881958,0.021606445,-0.060272217,0.022644043,0.05593872,-0.064086914,0.027954102,0.057922363,0.015991211,-0,0.027252197,-0.12261963,0.048675537,0.09197998,-0.026779175,0.025360107,-0.002313614,-0.01008606,0.03277588,-0.001581192,0.029663086,-0.025100708,-0.00687027,0.02029419,-0.035064697,-0.0013189316,-0.0579834,-0.02848816,0.010047913,-0.02659607,-0.10076904,-0.051635742,-0.0102005005,-0.007080078,0.01777649,0.026992798,-0.05343628,0.13647461,0.005836487,-0.028793335,0.024246216,0.045715332,-0.047851562,0.07684326,-0.15466309,-0.021728516,0.029327393,0.12670898,0.036376953,-0.125,-0.05126953,-0.013282776,-0.11224365,0.015945435,0.018539429,-0.03366089,-0.059173584,0.034851074,-0.048980713,0.0035190582,-0.010772705,0.016860962,0.10418701,0.057128906,-0.010620117,0.01133728,0.042541504,-0.0032577515,-0.019760132,-0.053375244,0.03692627,0.00730896,-0.018051147,-0.06488037]","[-0.032226562,-0.036346436,0.042297363,0.014801025,-0.0076828003,0.028213501,0.009895325,0.025375366,0.025909424,0.010383606,-0.020477295,-0.040893555,0.009353638,-0.010871887,0.09106445,-0.011184692,-0.013343811,-0.064086914,-0.06903076,-0.0670166,0.0028648376,-0.0025806427,-0.016098022,0.03881836,0.03463745,0.0602417,0.027999878,0.05697632,0.0052490234,0.06060791,-0.05819702,0.06365967,-0.00856781,0.011253357,-0.14404297,-0.012893677,0.0026550293,-0.04296875,-0.05380249,-0.06213379,0.056488037,0.02848816,0.025482178,0.0569458,-0.009315491,0.083618164,0.0012168884,-0.018325806,0.010421753,-0.023483276,-0.039520264,0.008834839,-0.04837036,0.015625,-0.023223877,-0.039398193,0.01777649,0.0027236938,0.010154724,0.06311035,-0.06500244,-0.01725769,-0.023025513,0.03186035,0.027572632,-0.021347046,-0.06945801,0.0015068054,0.044708252,-0.030563354,-0.011428833,0.03579712,0.010620117,-0.044036865,-0.010871887,-0.025497437,0.03579712,0.06842041,-0.035858154,0.028015137,0.011306763,-0.00667572,0.041168213,0.08093262,-0.021392822,-0.026046753,0.07232666,0.03286743,0.029708862,0.032928467,0.0071983337,0.032348633,-0.043426514,0.04647827,-0.035827637,0.1204834,-0.01184845,-0.035339355,-0.04827881,-0.11859131,-0.09094238,0.013511658,-0.10784912,-0.023895264,-0.043670654,-0.028244019,0.042663574,-0.017684937,0.049957275,-0.061828613,-0.031433105,0.003479004,0.028259277,-0.009841919,-0.057922363,-0.0066566467,0.0126571655,0.004676819,-0.0020141602,-0.009719849,-0.0552063,-0.019973755,0.039611816,-0.017150879,-0.10858154,0.033203125,0.029434204,0,-0.029251099,0.026107788,0.08099365,-0.030227661,0.068115234,-0.08013916,-0.059326172,0.04916382,-0.04006958,0.021347046,0.052246094,-0.06536865,-0.055847168,0.054260254,-0.019454956,-0.081848145,0.0068969727,0.07836914,0.0030231476,-0.00945282,0.009307861,-0.047851562,0.021560669,0.009681702,-0.09869385,0.0181427,0.08959961,0.044433594,0.057617188,-0.012687683,0.033050537,-0.016662598,-0.048461914,0.0059776306,-0.022567749,-0.07519531,-0.013969421,0.04385376,0.09240723,0.19372559,0.0008125305,0.018661499,0.021575928,0.032684326,-0.032409668,0.019256592,-0.09613037,0.011077881,-0.002954483,0.06524658,-0.03265381,0.079711914,0.08569336,0.07373047,-0.014816284,-0.008308411,0.021194458,0.047180176,0.014259338,-0.013069153,-0.03086853,0.039093018,0.0018978119,-0.06161499,-0.05102539,0.03475952,-0.10479736,-0.05734253,-0.008163452,0.019439697,0.02217102,-0.0013847351,0.0035114288,-0.103637695,0.06994629,-0.05718994,0.09906006,0.05041504,0.04019165,0.010887146,-0.041656494,0.01737976,-0.017822266,0.039367676,-0.04751587,-0.03778076,-0.07873535,-0.033996582,0.0026626587,0.06414795,-0.08569336,-0.040893555,0.01676941,0.030288696,-0.018203735,-0,0.03765869,-0.03427124,-0.04788208,0.10394287,0.07092285,-0.12084961,0.04916382,0.068725586,0.06549072,0.06414795,0.018112183,0.029663086,-0.050567627,0.13916016,-0.0014209747,0.016616821,0.12384033,0.073913574,-0.008140564,0.047027588,0.0016355515,-0.042022705,-0.037750244,0.016952515,0.05532837,0.03955078,0.03729248,-0.03173828,-0.022628784,0.039886475,-0.036621094,0.04345703,-0.07232666,-0.028518677,-0.057617188,-0.031463623,0.05014038,-0.072021484,0.04537964,0.07159424,0.06951904,0.0012559891,0.0748291,-0.031433105,0.002506256,-0.04434204,-0.008010864,0.0001347065,-0.08312988,0.16821289,0.049438477,0.015579224,-0.109436035,0.062805176,0.00447464,-0.090026855,-0.043884277,-0.067993164,-0.040130615,-0.10571289,-0.021942139,-0.014602661,-0.037994385,0.017364502,-0.0049552917,0.07269287,-0.042144775,-0.010383606,0.05493164,-0.027954102,0.0008659363,-0.077819824,-0.043640137,-0.074523926,0.03353882,-0.004585266,0.0007557869,0.01777649,0.036376953,-0.024383545,-0.027786255,0.031036377,-0.01222229,-0.049468994,-0.017944336,0.008323669,-0.035583496,0.056518555,0.0020484924,0.051635742,0.007522583,-0.11291504,0.0027122498,0.10131836,0.037994385,-0,-0.035125732,-0.087768555,-0.026687622,0.13562012,-0.013000488,-0.02532959,-0.011917114,-0.023101807,-0.014953613,-0.020401001,0.060455322,0.111694336,0.044799805,0.007068634,-0.04397583,-0.053466797,-0.014572144,0.0075645447,-0.008300781,0.012756348,-0.037109375,-0.011116028,0.0014724731,-0.0045547485,-0.031097412,0.05130005,0.062805176,0.03503418,-0.0036125183,-0.075927734,0.00818634,0.04348755,-0.10095215,0.03692627,-0.02947998,-0.07849121,0.017288208,0.119384766,-0.0018920898,-0.059295654,-0.066467285,-0.06854248,-0.04144287,0.018508911,-0.03375244,-0.06951904,-0.039031982,0.113220215,0.029266357,0.016098022,0.06222534,0.054718018,0.0067863464,0.07891846,0.00356102,-0.019363403,-0.023986816,-0.034088135,-0.11669922,-0.050994873,-0.012924194,-0.01776123,-0.007621765,-0.10040283]","[-0.003742218,-0.079833984,0.031402588,-0.008033752,-0.0052108765,0.029342651,0.062683105,0.014572144,0.014022827,0.03286743,-0.058532715,-0.053253174,-0.01058197,-0.013221741,0.072631836,-0.013114929,-0.0065956116,-0.046081543,-0.0340271,-0.08557129,-0.043640137,0.01638794,-0.01852417,0.04537964,0.07354736,0.03717041,0.056915283,0.0871582,0.004760742,-0.0026550293,-0.008361816,0.09881592,0.025421143,0.021621704,-0.10687256,-0.021560669,-0.0075912476,-0.028945923,-0.021240234,-0.047912598,0.011802673,0.029632568,0.062286377,0.058624268,-0.0050354004,0.071777344,0.03656006,0.002456665,-0.025436401,-0.0435791,-0.10583496,0.0073051453,-0.042663574,0.04534912,-0.018051147,-0.033843994,-0.007232666,0.028823853,0.0090789795,0.07775879,-0.07745361,-0.045318604,-0.03366089,0.05130005,0.0496521,-0.008003235,-0.005264282,0.04650879,0.017410278,-0.0395813,0.02722168,-0.005455017,0.046661377,0.0016088486,-0.016433716,0.025299072,0.058685303,0.052642822,-0.019973755,0.1303711,-0.06695557,0.03314209,0.013938904,0.10760498,-0.047943115,-0.03265381,0.07489014,-0.07891846,0.004169464,0.035186768,0.0184021,0.001531601,0.099121094,0.029846191,-0.019210815,0.095458984,0.024902344,-0.0075149536,0.012428284,-0.08477783,-0.080566406,-0.0003964901,-0.1161499,-0.02885437,-0.026107788,0.0038604736,0.054382324,-0.07122803,0.085632324,-0.072753906,-0.050872803,-0.009422302,0.04660034,-0.031707764,-0.08734131,0.006942749,0.03756714,-0.020523071,-0.058441162,-0.0010652542,-0.07873535,-0.011375427,-0.03201294,0.010139465,-0.14404297,0.016082764,-0.00018632412,0,-0.009529114,0.02293396,0.06640625,-0.03314209,0.08666992,-0.047027588,-0.088378906,0.033935547,-0.06109619,-0.002614975,0.068115234,-0.07385254,-0.03765869,0.05404663,0.0055160522,-0.052337646,-0.07775879,-0.008544922,0.019439697,-0.017044067,-0.024612427,0.049346924,0.019088745,0.008430481,-0.07714844,0.038879395,0.09375,0.061706543,0.041748047,0.0018043518,0.034057617,-0.029418945,-0.02458191,0.0154418945,-0.05819702,-0.08135986,-0.052490234,0.030426025,0.053649902,0.12609863,0.0019798279,-0.003156662,-0.024856567,0.07751465,-0.03643799,-0.009155273,-0.057739258,0.039520264,-0.0036201477,0.03552246,0.0075035095,0.059570312,0.11413574,0.13806152,0.0024642944,-0.024932861,0.018432617,-0.0013847351,0.050872803,-0.04724121,-0.057617188,-0.021102905,0.0206604,-0.05923462,-0.017486572,-0.017654419,-0.083618164,-0.050933838,0.01423645,-0.017349243,0.015823364,0.010185242,-0.061035156,-0.08984375,0.010810852,-0.04058838,0.053344727,0.06149292,0.06994629,0.017227173,-0.020736694,-0.033966064,-0.023880005,0.051635742,-0.056854248,0.00068998337,-0.054351807,-0.08081055,0.031082153,0.08392334,-0.0024147034,-0.0501709,0.017562866,0.066467285,-0.07244873,0,0.025299072,-0.042663574,-0.07171631,0.07385254,0.02684021,-0.14489746,0.072753906,-0.011581421,0.08508301,0.038116455,0.041046143,-0.008674622,-0.10369873,0.11273193,-0.02168274,-0.00409317,0.07104492,0.11456299,-0.0069503784,0.020507812,0.03930664,0.017974854,-0.038909912,-0.02104187,0.037109375,0.059448242,0.040863037,-0.07196045,0.016586304,0.059661865,0.017837524,0.03387451,-0.024765015,-0.015777588,0.022903442,-0.03366089,0.06774902,-0.070495605,-0.009208679,0.010284424,0.03564453,0.008262634,0.06414795,-0.061798096,0.064697266,0.020614624,0.037109375,0.007873535,-0.05154419,0.14355469,0.11431885,0.06616211,-0.08709717,0.056640625,0.011695862,-0.13061523,0.027801514,-0.045318604,-0.006072998,-0.07354736,-0.030471802,0.0021591187,-0.01953125,-0.018249512,-0.029586792,0.030960083,-0.051239014,-0.04650879,0.02027893,-0.00605011,0.051635742,-0.092163086,0.014518738,-0.053619385,0.047027588,-0.01436615,-0.009536743,0.029785156,0.008979797,0.026916504,0.042938232,0.041778564,0.0259552,-0.058776855,-0.020202637,0.032684326,-0.038208008,0.053100586,0.010665894,0.043945312,-0.028930664,-0.108947754,-0.011314392,0.0007042885,0.037628174,-0,-0.052856445,-0.11090088,-0.06298828,0.14233398,-0.01902771,0.016067505,0.029464722,0.014350891,-0.018478394,-0.045806885,0.015541077,0.09637451,-0.030944824,0.034606934,0.019042969,-0.0027446747,0.0033473969,-0.005836487,-0.018859863,0.020980835,-0.0814209,0.028778076,0.012084961,0.015129089,-0.0039901733,-0.013137817,0.010543823,0.00868988,-0.00737381,-0.051452637,0.032409668,0.058135986,-0.04055786,0.028961182,-0.016921997,-0.022262573,0.040618896,0.1159668,0.006465912,-0.022232056,-0.069885254,0.015388489,-0.03201294,-0.044830322,-0.078186035,-0.029708862,-0.040496826,0.08380127,0.0095825195,0.02696228,0.058135986,0.04006958,0.043182373,0.044281006,-0.024368286,-0.011856079,-0.008422852,-0.042816162,-0.07366943,-0.039916992,0.085510254,-0.06890869,0.019546509,-0.058563232]"}', '01a20acf-0428-769b-a818-afb4f4c01505', 1),
	('{0,10,12,65}', '{"[0.007369995,0.08001709,0.10614014,0.012779236,0.061828613,0.026992798,0.14990234,0.00349617,-0.04434204,-0.0496521,0.03527832,0.039367676,-0.028549194,-0.058776855,-0.0569458,0.03265381,0.03111267,-0.028381348,-0.0368042,0.02305603,0.062438965,0.031951904,0.0035076141,0.020141602,0.03894043,-0.001709938,-0.076293945,-0.050445557,0.05923462,0.024856567,0.026611328,0.14904785,0.059539795,-0.030899048,0.059295654,0.004207611,-0.010246277,0.0012960434,-0.030471802,0.003189087,0.033721924,-0.051727295,-0.025466919,0.03753662,-0.05505371,0.072753906,-0.11340332,0.0284729,-0.05596924,-0.040222168,0.021087646,0.0029315948,0.001958847,0.060546875,-0.0579834,-0.004688263,0.038085938,-0.07281494,0.024093628,0.06365967,-0.0053863525,0.022827148,-0.05532837,-0.11279297,0.06488037,-0.078552246,-0.027236938,-0.009284973,-0.031082153,0.114990234,0.03842163,0.060668945,0.05050659,0.0016288757,-0.0073242188,0.052764893,-0.041809082,-0.0071525574,0.026367188,-0.0680542,-0.08441162,-0.029724121,-0.03466797,0.025238037,-0.07611084,0.030929565,-0.04055786,-0.003452301,0.038085938,0.0209198,-0.007751465,0.03994751,-0.021759033,0.029418945,-0.07501221,-0.028366089,0.017044067,-0.029067993,-0.07208252,-0.011665344,-0.0074806213,-0.010765076,0.037963867,-0.056365967,-0.05859375,0.00071811676,-0.022277832,-0.01574707,0.09075928,0.041625977,0.005142212,-0.016464233,-0.07287598,-0.02911377,0.05328369,-0.0803833,0.009002686,-0.015731812,0.03161621,-0.015808105,0.010772705,0.015167236,-0.010749817,-0.010116577,0.0041236877,-0.034729004,-0.002281189,0,0.012680054,0.01272583,-0.04067993,0.10681152,-0.044677734,0.04269409,-0.017745972,-0.016571045,0.0022678375,-0.032806396,-0.17797852,0.054901123,-0.06616211,-0.03149414,0.013633728,-0.13220215,-0.0066871643,-0.03881836,0.00374794,-0.0037441254,0.064208984,-0.024765015,0.008132935,0.033294678,-0.042938232,0.022033691,-0.0158844,-0.0289917,0.026473999,0.035827637,0.053588867,-0.033813477,-0.065979004,-0.011260986,-0.074279785,-0.054992676,0.037017822,0.05996704,-0.093322754,-0.029937744,-0.03744507,0.047607422,0.010696411,-0.047851562,0.037353516,0.032470703,0.038909912,0.103515625,0.060028076,-0.0004389286,-0.03604126,0.107055664,-0.029541016,0.031585693,0.10430908,-0.014625549,0.049926758,-0.0154953,0.064575195,-0.03250122,0.045166016,-0.005504608,0.029678345,-0.058685303,-0.022735596,-0.07342529,0.009246826,0.025009155,-0.05001831,0.016525269,-0.095825195,0.11175537,0.01876831,0.024368286,-0.026351929,-0.016708374,0.059265137,0.011001587,-0.0016317368,0.010444641,-0.06021118,-0.002708435,0.026519775,-0.04498291,0.030563354,0.036865234,-0.0060310364,-0.12097168,0.021820068,-0.05670166,0.036193848,-0.017578125,-0.076538086,-0.0019426346,-0.058624268,-0,0.057556152,0.07550049,-0.08288574,-0.018981934,0.011726379,-0.049621582,0.010559082,-0.08068848,0.0119018555,-0.023254395,-0.0043182373,0.0069122314,-0.04498291,0.03125,0.069885254,0.008285522,-0.0053138733,0.03945923,-0.070495605,0.020233154,-0.04849243,-0.03604126,-0.032714844,0.057159424,-0.045898438,0.01071167,0.0814209,0.12939453,0.068359375,-0.06536865,-0.006134033,0.00116539,0.097961426,0.054382324,-0.01687622,0.015930176,0.064575195,0.010437012,0.0154953,0.10913086,0.0060424805,-0.018341064,0.037017822,0.0066490173,-0.03640747,0.0211792,0.08050537,0.010864258,0.02607727,-0.05682373,0.026626587,0.009544373,-0.10888672,-0.043121338,0.020584106,0.0029850006,0.06213379,0.038330078,-0.083740234,-0.018829346,-0.06524658,0.008491516,0.043670654,-0.029312134,0.049987793,-0.066345215,-0.01285553,-0.00035834312,-0.09472656,0.02003479,-0.03744507,0.035369873,-0.023956299,-0.117004395,-0.06573486,0.029418945,0.032165527,0.016220093,0.024978638,0.039764404,0.002128601,0.011756897,-0.011871338,-0.049560547,0.040008545,0.0028572083,0.085876465,0.0052604675,-0.058380127,-0.015319824,0.022354126,-0.03668213,0.021972656,0.025543213,0.010597229,-0,-0.008956909,-0.08874512,0.030578613,0.038330078,-0.019729614,0.06781006,0.006893158,-0.023712158,0.0010433197,-0.0016241074,-0.014656067,0.0014982224,0.025497437,0.051879883,0.009521484,-0.007408142,-0.01928711,0.012992859,-0.004398346,-0.089538574,-0.11212158,-0.07910156,-0.0077400208,-0.04849243,0.033355713,0.0036678314,-0.07421875,0.14208984,0.022109985,0.06274414,0.040161133,0.08050537,-0.06439209,0.070251465,-0.13110352,0.018051147,0.015045166,0.0914917,0.074157715,-0.07366943,-0.06085205,0.09387207,-0.12054443,0.03353882,-0.06188965,-0.026992798,-0.0005311966,0.03878784,-0.035369873,-0.013771057,-0.052337646,-0.017089844,0.1171875,0.03475952,0.0048675537,0.0039520264,0.07019043,-0.071777344,0.037139893,0.00053596497,0.11254883,-0.014602661,0.026351929,-0.052459717]","[-0.05783081,0.03488159,-0.03604126,0.072143555,-0.05117798,-0.053100586,0.060180664,-0.048309326,0.0076789856,-0.029663086,0.11639404,-0.107055664,-0.014892578,-0.007171631,-0.04449463,-0.024108887,0.0004582405,-0.005882263,0.00069999695,-0.041107178,0.07348633,0.06994629,-0.015686035,-0.017410278,0.0026512146,-0.019470215,-0.15515137,-0.027282715,0.043670654,-0.08880615,0.008201599,0.060638428,0.031173706,-0.035949707,-0.037963867,0.04751587,-0.06750488,0.05230713,0.01914978,0.0024909973,0.051086426,-0.032684326,0.013893127,-0.026138306,-0.008422852,0.030548096,-0.077941895,0.03060913,0.03640747,-0.036499023,0.0135269165,-0.08099365,-0.040130615,0.060699463,0.10809326,-0.054870605,0.03955078,-0.09649658,0.01940918,0.12219238,0.025558472,0.06921387,-0.06274414,-0.041870117,0.04534912,-0.031707764,-0.018798828,-0.07116699,-0.058135986,-0.036071777,0.075805664,-0.0079422,0.03591919,-0.0090789795,-0.056854248,-0.019683838,0.0065956116,-5.531311e-05,-0.039855957,-0.013977051,-0.06359863,0.062194824,-8.2433224e-05,0.015617371,-0.074035645,0.0418396,-0.08959961,-0.001991272,0.019729614,0.02394104,-0.049957275,0.030563354,-0.011207581,0.078063965,-0.1796875,0.0047302246,-0.04498291,0.024978638,-0.04840088,-0.033233643,0.0063323975,0.0110321045,0.016113281,-0.1303711,-0.10870361,-0.015808105,-0.037750244,-0.12854004,0.07965088,0.04248047,-0.015808105,-0.028579712,-0.036834717,0.022918701,-0.045135498,0.051727295,0.047546387,-0.023025513,-0.04638672,0.047790527,0.0074424744,0.028198242,0.066833496,-0.008155823,0.0090789795,0.037322998,0.05496216,-0,-0.0053367615,-0.07897949,-0.020843506,-0.0034675598,0.085510254,-0.038513184,-0.075683594,-0.014892578,-0.061676025,-0.08911133,-0.048614502,-0.089782715,-0.12597656,-0.023513794,0.052337646,-0.033569336,0.05203247,-0.047027588,0.06542969,0.04888916,0.0055656433,0.046081543,-0.041778564,0.033355713,0.06561279,-0.014602661,0.033416748,-0.029159546,0.0034599304,0.038238525,0.074035645,-0.013656616,-0.0019283295,-0.007381439,-0.001241684,-0.0050468445,0.11248779,0.047454834,-0.07220459,0.06652832,-0.052886963,0.06689453,0.014915466,0.03729248,0.01991272,-0.0048942566,0.032989502,0.052490234,0.016647339,-0.01625061,-0.033233643,0.038024902,0.12243652,0.03955078,-0.0009975433,0.03189087,0.06384277,0.059020996,0.056365967,0.0013914108,0.018035889,0.015808105,0.010505676,0.04699707,0.099609375,-0.026901245,-0.0050354004,0.02558899,0.038146973,0.007686615,-0.07122803,-0.060546875,0.03918457,0.05166626,0.08654785,-0.061401367,-0.00064468384,-0.011734009,0.008674622,-0.04135132,0.030914307,0.0031871796,-0.028701782,-0.0078086853,-0.024276733,0.074157715,0.050964355,-0.0019340515,-0.039611816,-0.072631836,-0.025604248,0.08111572,0.022216797,-0.0871582,-0.025817871,0,0.034057617,0.020019531,-0.0362854,0.013397217,0.048675537,0.0017948151,-0.037902832,0.008872986,-0.068725586,0.043029785,-0.048614502,0.027694702,-0.013336182,0.061157227,0.04953003,-0.019012451,0.05734253,0.0947876,-0.06298828,-0.060943604,-0.07623291,0.05407715,-0.109069824,-0.04876709,0.0017251968,0.05255127,-0.007675171,0.07128906,0.018035889,0.008628845,-0.045654297,-0.06500244,-0.012969971,-0.064575195,0.00023889542,0.015541077,0.036102295,-0.09472656,-0.0019483566,0.05682373,0.0335083,0.029678345,0.043823242,0.06726074,-0.08856201,0.010063171,-0.0390625,0.089660645,-0.06829834,-0.018936157,0.10681152,0.019592285,-0.111450195,0.025558472,0.007534027,-0.04171753,0.05029297,-0.0016908646,-0.015098572,-0.059417725,-0.04434204,-0.031204224,-0.0046539307,-0.009262085,0.007583618,-0.02116394,0.009880066,0.037200928,-0.00021660328,0.033966064,-0.02949524,0.046691895,-0.00070667267,-0.04437256,-0.08392334,0.06665039,0.0037269592,-0.015670776,0.022338867,-0.09320068,-0.022384644,-0.04547119,0.07501221,-0.0059814453,0.04309082,-0.09442139,0.019134521,0.033203125,0.05596924,0.018447876,-0.03503418,0.019104004,-0.039245605,0.04434204,0.0019683838,-0,-0.008529663,-0.08654785,-0.045898438,0.038482666,0.08807373,-0.047912598,-0.020050049,0.023803711,0.015975952,-1.9609928e-05,0.014785767,0.12890625,-0.004032135,0.044189453,0.033355713,-0.029571533,0.1862793,0.057800293,-0.015258789,0.0027217865,-0.072021484,0.020355225,-0.0029392242,-0.062469482,-0.072753906,-0.0010709763,-0.033416748,-0.008544922,-0.0036716461,0.0011777878,0.044006348,0.054382324,-0.0129470825,-0.041259766,-0.028244019,0.046081543,-0.061309814,0.02822876,0.03729248,-0.05404663,-0.008590698,-0.03744507,0.024124146,0.0748291,-0.07611084,-0.020095825,-0.026245117,-0.004295349,0.021392822,-0.048675537,-0.0062713623,-0.05239868,0.10424805,0.005367279,-0.0112838745,0.019241333,0.0036239624,-0.01876831,0.039093018,0.0143966675,0.053131104,-0.009017944,0.09112549,0.04788208]"}', '01a20acf-0428-769b-a818-afb57e1f18ef', 1),
	('{0,30,31,59}', '{"[0.017303467,0.029037476,-0.028518677,-0.009880066,0.023498535,0.046844482,0.08050537,-0.040771484,0.037872314,0.057769775,0.009727478,-0.013404846,-0.001660347,-0.074035645,0.08514404,0.026016235,-0.07336426,-0.06213379,-0.0736084,-0.036987305,0.050842285,-0.028427124,-0.031402588,-0.059539795,-0.01499176,0.019897461,-0.017730713,0.051605225,0.003206253,-0.060577393,0.0062026978,0.051483154,-0.04309082,-0.019927979,-0.038879395,0.059692383,0.010169983,-0.080444336,0.04949951,0.017227173,-0.10217285,0.0076141357,0.031463623,0.038970947,-0.08081055,0.0068855286,-0.009857178,0.017959595,-0.014587402,-0.113464355,0.0022468567,0.034973145,-0.028366089,0.10003662,0.02178955,0.12854004,0.038879395,-0.015472412,-0.017486572,-0.02128601,0.055633545,0.02420044,-0.033477783,-0.00018668175,-0.081604004,0.018432617,-0.021347046,-0.09088135,9.346008e-05,-0.15991211,0.047668457,-0.0031204224,0.049224854,-0.03289795,0.020599365,-0.06762695,0.019897461,0.008552551,-0.031066895,0.016860962,0.033599854,0.04156494,-0.06756592,0.11242676,0.06738281,0.058166504,0.006690979,0.09289551,-0.09161377,0.031311035,-0.06121826,-8.094311e-05,-0.11773682,0.03756714,0.0256958,0.046844482,-0.07122803,-0.030441284,0.01864624,-0.043640137,0.06817627,-0.0012578964,-0.045043945,-0.029205322,-0.07043457,-0.040161133,-0.020965576,0.13183594,0.023605347,-0.07305908,0.013847351,-0.015701294,-0.04119873,0.04901123,-0.061676025,-0.0029201508,0.056854248,-0.04168701,0.0107421875,0.07562256,0.15515137,0.034576416,-0.02458191,0.019866943,-0.072509766,-0.07879639,-0.017913818,-0,0.0146865845,0.034362793,0.018585205,-0.12310791,0.13586426,0.012756348,-0.004650116,0.08746338,-0.049987793,-0.039764404,0.02848816,-0.023132324,-0.030929565,-0.09069824,-0.06958008,-0.04324341,0.0064353943,0.048309326,-0.071899414,-0.0066184998,-0.005554199,0.0680542,-0.008323669,0.04815674,0.015426636,-0.027526855,0.014228821,0.056793213,0.01763916,0.012687683,0.03137207,0.02885437,0.060180664,0.06921387,0.023208618,-0.017608643,-0.02935791,0.0020656586,-0.022109985,0.029525757,-0.058410645,0.033355713,-0.027740479,0.06524658,0.003982544,0.020904541,-0.066589355,0.01675415,-0.015823364,0.027297974,-0.034484863,0.03878784,0.050628662,0.10308838,-0.026016235,-0.040130615,0.026184082,0.04638672,0.0043907166,-0.10070801,0.070251465,0.10437012,0.008728027,0.00030469894,-0.020935059,-0.022705078,-0.04486084,0.030944824,-0.019592285,-0.010879517,-0.07055664,0.013847351,-0.045043945,0.005180359,0.0077781677,-0.054382324,-0.013381958,0.008277893,-0.017623901,0.010261536,-0.042938232,0.026062012,-0.042755127,0.027496338,-0.02368164,-0.023895264,-0.0023460388,0.04864502,-0.04928589,-0.006290436,0.05001831,0.009811401,0.025314331,-0.07904053,-0.078430176,0,0.028579712,-0.032714844,-0.012062073,-0.04534912,0.07623291,-0.05831909,-0.0056381226,-0.03375244,0.03543091,0.031280518,0.015266418,0.07086182,-0.019180298,0.10839844,0.057739258,9.7334385e-05,-0.010299683,0.028442383,0.013366699,0.08917236,-0.037506104,0.05831909,-0.020599365,-0.032196045,-0.091674805,0.012741089,0.020828247,-6.854534e-06,-0.051818848,0.0015211105,-0.021835327,-0.043304443,-0.10406494,0.03591919,-0.020111084,-0.021438599,0.041900635,-0.17456055,-0.09350586,0.07208252,0.08111572,0.01676941,0.06304932,0.019836426,-0.053375244,-0.043273926,-0.10296631,0.017410278,-0.0982666,-0.013145447,0.08917236,0.07733154,0.009239197,-0.031463623,0.0018749237,0.03778076,-0.10107422,0.023483276,0.02949524,0.10632324,-0.021957397,-0.02330017,-0.06161499,0.11053467,0.046325684,-0.05493164,0.01499176,0.01461792,0.033081055,0.023727417,0.016448975,0.02229309,-0.04284668,0.026016235,0.056793213,0.018692017,0.023620605,0.017440796,0.0049705505,0.017822266,0.029586792,-0.01260376,-0.020065308,-0.06121826,0.044769287,-0.11254883,0.001701355,0.07507324,-0.0104599,-0.06567383,-0.018356323,0.064941406,0.010879517,-0.008399963,0.054260254,-0,0.0345459,-0.008682251,-0.061584473,-0.030227661,0.042419434,-0.08099365,0.09967041,-0.0041885376,-0.074279785,-0.02104187,0.0024795532,0.06890869,0.037322998,-0.013198853,0.022521973,0.0054130554,-0.09765625,-0.03652954,0.04864502,0.029907227,0.048095703,-0.037597656,-0.029785156,0.060394287,0.0031604767,0.015899658,-0.00055503845,0.001206398,-0.08380127,0.11639404,0.070251465,0.07019043,0.019897461,-0.023895264,-0.03062439,0.014587402,-0.022064209,0.068725586,-0.027923584,-0.11413574,-0.015289307,-0.080078125,-0.09136963,0.005306244,0.0154953,-0.028747559,0.0670166,0.0031032562,0.010940552,-0.027709961,-0.014831543,-0.015159607,0.014724731,-0.006385803,-0.023605347,-0.076416016,0.046722412,0.025924683,-0.03753662,-0.020217896,0.004524231,0.06542969,-0.022338867,0.0035800934]","[0.012138367,0.033813477,-0.0368042,0.015281677,0.05758667,0.08068848,0.039886475,-0.015731812,0.03540039,0.046081543,0.030639648,-0.015609741,0.0023708344,-0.068603516,0.06732178,0.045959473,-0.08306885,-0.030578613,-0.0803833,-0.040100098,0.050201416,-0.029296875,-0.014976501,-0.089782715,-0.03515625,0.016494751,-0.014549255,0.029266357,0.032226562,-0.04788208,0.038391113,-0.050750732,-0.0435791,-0.048431396,0.008506775,0.089904785,0.031707764,-0.077697754,0.017288208,-0.008850098,-0.083862305,0.037322998,0.024551392,0.028457642,-0.06842041,0.03062439,-0.008880615,0.012924194,0.0055656433,-0.11804199,0.021911621,0.06640625,-0.03579712,0.07244873,0.012786865,0.12060547,0.08654785,-0.06750488,0.010643005,-0.015388489,0.09753418,0.005027771,-0.078430176,-0.011253357,-0.022109985,0.006958008,-0.01966858,-0.06561279,-0.033996582,-0.19519043,0.052581787,-0.0034980774,0.032226562,-0.0025901794,-0.015357971,-0.05670166,0.0063285828,0.0340271,-0.03704834,0.02229309,0.038726807,0.07879639,-0.046539307,0.07324219,0.068725586,0.068847656,0.0039520264,0.03894043,-0.05734253,0.08294678,-0.0602417,-0.016067505,-0.09979248,0.046966553,-0.07733154,0.03338623,-0.039794922,0.08227539,0.053253174,-0.009048462,0.04876709,-0.036254883,-0.01802063,-0.04623413,-0.061706543,-0.042144775,-0.010421753,0.07269287,0.037475586,-0.06210327,0.010848999,-0.033813477,0.020080566,0.07739258,-0.0340271,-0.009559631,0.062316895,-0.035308838,-0.017608643,0.086120605,0.13000488,0.01473999,0.01725769,0.015151978,-0.026184082,-0.08898926,-0.022354126,-0,0.039916992,0.033355713,0.018112183,-0.08654785,0.105041504,0.006790161,-0.06347656,0.07080078,-0.038970947,0.06439209,0.008132935,-0.09466553,-0.001619339,-0.101501465,-0.03503418,-0.0007863045,0.04324341,0.035339355,-0.002773285,-0.010818481,-0.041748047,0.093444824,0.0035266876,0.043792725,0.037719727,-0.0418396,0.01939392,0.031402588,0.010574341,0.0109939575,0.029800415,0.022277832,0.08099365,0.047546387,0.018753052,-0.09820557,0.0030136108,-0.0053367615,-0.03387451,-0.016967773,-0.055541992,-0.002904892,-0.011146545,0.049926758,0.04324341,-0.010482788,-0.054870605,0.0025100708,-0.029510498,0.020599365,-0.029663086,0.048614502,0.049591064,0.13769531,-0.06530762,-0.03366089,-0.013435364,0.025344849,-0.006965637,-0.06958008,0.07525635,0.13891602,0.013694763,-0.036621094,-0.021911621,-0.07727051,-0.03878784,0.006450653,0.0181427,0.042053223,-0.0569458,0.028640747,0.019424438,-0.01159668,-0.011230469,-0.047821045,-0.02279663,0.008476257,-0.0018224716,-0.022857666,0.0231781,0.018234253,-0.06866455,0.06384277,-0.04751587,-0.027618408,-0.019897461,0.033294678,-0.037750244,0.005836487,0.036193848,0.0064468384,-0.011505127,-0.0758667,0.0002861023,0,0.058410645,-0.013648987,-0.095703125,-0.03503418,0.048095703,-0.023742676,0.01512146,0.028335571,0.01864624,0.02986145,0.020690918,0.08502197,-0.013938904,0.14648438,-0.002746582,0.062072754,0.00044846535,0.008605957,0.0059165955,0.053710938,-0.05935669,-0.025421143,-0.07281494,-0.052124023,-0.042053223,-0.0049438477,-0.0390625,0.07574463,-0.037078857,-0.03050232,-0.041137695,-0.08898926,-0.06591797,0.04397583,-0.035095215,-0.00019311905,0.0592041,-0.16027832,-0.05987549,0.045654297,0.08654785,0.008369446,0.037750244,0.000579834,-0.022598267,-0.03665161,-0.06500244,0.025619507,-0.070007324,-0.031280518,0.111694336,0.07122803,-0.004634857,-0.021362305,3.8444996e-05,-0.019729614,-0.047088623,-0.009086609,0.033081055,0.10675049,-0.030334473,-0.015792847,-0.05819702,0.111083984,0.00522995,-0.09161377,0.011054993,0.03010559,-0.029815674,-0.032226562,0.047943115,0.02772522,-0.021224976,-0.005657196,0.045288086,-0.010070801,-0.006340027,0.0032520294,0.005138397,0.08660889,0.0107421875,-0.029296875,-0.0026435852,-0.021072388,-0.035095215,-0.09246826,-0.0046043396,0.06573486,0.011306763,-0.11206055,-0.057128906,0.07330322,0.036468506,-0.049682617,0.037628174,-0,0.031585693,-0.0053749084,-0.028259277,-0.03338623,0.09313965,-0.022399902,0.11987305,0.048736572,-0.08666992,0.011985779,-0.005317688,0.04083252,-0.032806396,0.008277893,-0.0036182404,-0.0071029663,-0.07720947,-0.050994873,0.028625488,0.029342651,0.058135986,-0.015281677,-0.019805908,0.084350586,-0.05895996,-0.027496338,0.0022678375,-0.06756592,-0.059173584,0.109069824,0.05731201,0.04031372,0.043548584,-0.007858276,-0.08734131,0.052337646,-0.017028809,0.11694336,-0.010826111,-0.06536865,-0.002691269,-0.06201172,-0.04333496,0.026000977,0.035095215,0.01828003,0.060577393,-0.024902344,-0.014076233,-0.035949707,-0.01133728,-0.029312134,0.008071899,-0.01802063,-0.009307861,-0.053741455,-0.007850647,0.007675171,-0.015777588,0.008605957,-0.013092041,0.059387207,-0.049865723,0.052581787]"}', '01a20acf-0805-7588-aa60-f4e9d3ada19a', 1);
INSERT INTO public.rag_candidates VALUES
	('01a20acf-0c33-755f-bbe6-b21add0818bd', 5, '{01a20acf-0428-769b-a818-afb4f4c01505,01a20acf-0805-7588-aa60-f4e9d3ada19a,01a20ace-fc75-7021-b1b6-0201eff6b195,01a20acf-0428-769b-a818-afb57e1f18ef,01a20ace-fc76-742f-be8a-e98b04e3ad58}', '{01a20ace-fe61-708d-a6ad-c77dec7dc15c,01a20ace-fe61-708d-a6ad-c77e2f7ed2b3,01a20ace-fc59-701a-90f3-06838e84dd1d,01a20ace-fe61-708d-a6ad-c77dec7dc15c,01a20ace-fc59-701a-90f3-06838e84dd1d}', '{0.7510608882344312,0.17599662697295138,0.18074823503185755,0.15267265752987036,0.09824948598441419}', '{17.314329147338867,5.085458278656006,NULL,NULL,NULL}', '{0.01639344262295082,0.016001024065540194,0.008536214242239805,0.008284198113207547,0.00816400580551524}', '{2.9341178857346097,0.7906840294311176,0.3810083550318576,0.32023949752987035,0.20613378598441418}', '{0.9998064755597367,0.008800614825688557,1.1047073515124683e-05,0.00046212925223487744,6.4666543254654485e-06}', '{1,2,3,4,5}', '{1}'),
	('01a20acf-0c86-73fe-9f08-1c41c50c1596', 2, '{01a20ace-fc75-7021-b1b6-0201eff6b195,01a20ace-fc76-742f-be8a-e98b04e3ad58}', '{01a20ace-fc59-701a-90f3-06838e84dd1d,01a20ace-fc59-701a-90f3-06838e84dd1d}', '{0.6206674760778988,0.26470098688307375}', '{16.395723342895508,NULL}', '{0.01639344262295082,0.008536214242239805}', '{2.7695082433252853,0.5239109468830738}', '{0.999703999085217,3.51826488991791e-05}', '{1,2}', '{1}');
INSERT INTO public.rag_citation VALUES
	(1, 0, 1, '01a20acf-0428-769b-a818-afb4f4c01505', '01a20ace-fe61-708d-a6ad-c77dec7dc15c', 'Tea', NULL, 'Green tea is steeped at eighty degrees for two minutes.', 7, 62, 0, 54, 'exact', false, '01a20acf-0c33-755f-bbe6-b21add0818bd'),
	(2, 0, 1, '01a20ace-fc75-7021-b1b6-0201eff6b195', '01a20ace-fc59-701a-90f3-06838e84dd1d', 'The baker''s book', 1, 'A loaf bakes for forty minutes at 230 degrees.', 101, 147, 0, 45, 'exact', false, '01a20acf-0c86-73fe-9f08-1c41c50c1596');
INSERT INTO public.rag_feedback VALUES
	(1, 'address:73a9c66606ef4d92422e04bcd83205deda83e5b8d4139809c884131b4adc3fd6', 'thumbs_up', 'Just so.', '2026-11-23 23:47:54.13133+00', '2026-11-23 23:47:54.13133+00', '01a20acf-0c33-755f-bbe6-b21add0818bd');
INSERT INTO public.rag_query VALUES
	('01a20acf-0c33-755f-bbe6-b21add0818bd', NULL, 'platform', '01a20acf-0c33-755f-bbe6-b21add0818bd', 'How long is green tea steeped?', '', '{01a20ace-b7ca-732f-9c65-3d7161acb0ea,01a20ace-f9de-758d-ae15-7f191a2d3a78}', '{}', '{"mode": "hybrid", "top_k": 10, "rerank": true, "rewrite": null, "threshold": 0.8, "max_tokens": 1024}', true, '', '', 5, 0.9998064755597367, false, NULL, 79, '{"check": 0.511, "embed": 3.528, "rerank": 0.657, "search": 7.023, "context": 0.092, "retrieve": 67.859, "relevance": 0.237, "synthesize": 0.318}', 'all-MiniLM-L6-v2', 'sentence', '', '2026-11-23 23:47:50.963+00'),
	('01a20acf-0c86-73fe-9f08-1c41c50c1596', NULL, 'ask', '01a20acf-0c86-73fe-9f08-1c41c50c1596', 'At how many degrees does a loaf bake?', '', '{01a20ace-b7ca-732f-9c65-3d7161acb0ea}', '{}', '{"mode": "hybrid", "top_k": 5, "rerank": true, "rewrite": null, "threshold": 0.8, "max_tokens": null}', true, '', '', 2, 0.999703999085217, false, NULL, 22, '{"check": 0.356, "embed": 10.079, "rerank": 0.213, "search": 7.78, "context": 0.089, "retrieve": 19.655, "relevance": 0.15, "synthesize": 0.336}', 'all-MiniLM-L6-v2', 'sentence', '', '2026-11-23 23:47:51.046+00');
INSERT INTO public.rag_querycount VALUES
	(1, '2026-11-23', 2, '01a20ace-b7ca-732f-9c65-3d7161acb0ea'),
	(2, '2026-11-23', 1, '01a20ace-f9de-758d-ae15-7f191a2d3a78');
INSERT INTO public.rag_response VALUES
	('01a20acf-0c33-755f-bbe6-b21add0818bd', 'Green tea is steeped at eighty degrees for two minutes [1].', false, 'extractive', '', 0, 0, 1, '2026-11-23 23:47:52.888874+00', '2026-11-23 23:47:50.963+00', 1, NULL),
	('01a20acf-0c86-73fe-9f08-1c41c50c1596', 'A loaf bakes for forty minutes at 230 degrees [1].', false, 'extractive', '', 0, 0, 1, '2026-11-23 23:47:52.888874+00', '2026-11-23 23:47:51.046+00', 1, NULL);
SELECT pg_catalog.setval('public.auth_group_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_group_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_permission_id_seq', 168, true);
SELECT pg_catalog.setval('public.auth_user_groups_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_user_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_user_user_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_admin_log_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_content_type_id_seq', 42, true);
SELECT pg_catalog.setval('public.django_migrations_id_seq', 45, true);
SELECT pg_catalog.setval('public.documents_apikeycollection_id_seq', 1, true);
SELECT pg_catalog.setval('public.documents_collectionchange_id_seq', 9, true);
SELECT pg_catalog.setval('public.documents_idempotencyrecord_id_seq', 1, false);
SELECT pg_catalog.setval('public.documents_page_id_seq', 4, true);
SELECT pg_catalog.setval('public.embeddings_embeddingmodel_id_seq', 1, true);
SELECT pg_catalog.setval('public.embeddings_embeddingrequest_id_seq', 5, true);
SELECT pg_catalog.setval('public.embeddings_indexmeasurement_id_seq', 1, false);
SELECT pg_catalog.setval('public.embeddings_lexemecount_id_seq', 47, true);
SELECT pg_catalog.setval('public.embeddings_outbox_version', 1, false);
SELECT pg_catalog.setval('public.rag_citation_id_seq', 2, true);
SELECT pg_catalog.setval('public.rag_evaluationresult_id_seq', 1, false);
SELECT pg_catalog.setval('public.rag_feedback_id_seq', 1, true);
SELECT pg_catalog.setval('public.rag_querycount_id_seq', 2, true);
SELECT pg_catalog.setval('public.rag_setquestion_id_seq', 1, false);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_group_id_94350c0c_uniq UNIQUE (user_id, group_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_permission_id_14a6b632_uniq UNIQUE (user_id, permission_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_username_key UNIQUE (username);
ALTER TABLE ONLY public.documents_chunk
    ADD CONSTRAINT chunks_one_per_index UNIQUE (document_id, chunk_index);
ALTER TABLE ONLY public.rag_citation
    ADD CONSTRAINT citations_in_order UNIQUE (response_id, "position");
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);
ALTER TABLE ONLY public.documents_apikey
    ADD CONSTRAINT documents_apikey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_apikey
    ADD CONSTRAINT documents_apikey_prefix_key UNIQUE (prefix);
ALTER TABLE ONLY public.documents_apikeycollection
    ADD CONSTRAINT documents_apikeycollection_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_chunk
    ADD CONSTRAINT documents_chunk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_collection
    ADD CONSTRAINT documents_collection_name_key UNIQUE (name);
ALTER TABLE ONLY public.documents_collection
    ADD CONSTRAINT documents_collection_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_collectionchange
    ADD CONSTRAINT documents_collectionchange_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_document
    ADD CONSTRAINT documents_document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_idempotencyrecord
    ADD CONSTRAINT documents_idempotencyrecord_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_ingestitem
    ADD CONSTRAINT documents_ingestitem_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_ingestjob
    ADD CONSTRAINT documents_ingestjob_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.documents_page
    ADD CONSTRAINT documents_page_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_droppedspace
    ADD CONSTRAINT embeddings_droppedspace_pkey PRIMARY KEY (model_id);
ALTER TABLE ONLY public.embeddings_embedding
    ADD CONSTRAINT embeddings_embedding_pkey PRIMARY KEY (chunk_id, model_id);
ALTER TABLE ONLY public.embeddings_embeddingmodel
    ADD CONSTRAINT embeddings_embeddingmodel_name_key UNIQUE (name);
ALTER TABLE ONLY public.embeddings_embeddingmodel
    ADD CONSTRAINT embeddings_embeddingmodel_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_embeddingrequest
    ADD CONSTRAINT embeddings_embeddingrequest_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_embeddingrun
    ADD CONSTRAINT embeddings_embeddingrun_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_indexmeasurement
    ADD CONSTRAINT embeddings_indexmeasurement_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_lexemecount
    ADD CONSTRAINT embeddings_lexemecount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_lexicalentry
    ADD CONSTRAINT embeddings_lexicalentry_pkey PRIMARY KEY (chunk_id);
ALTER TABLE ONLY public.embeddings_outboxentry
    ADD CONSTRAINT embeddings_outboxentry_pkey PRIMARY KEY (model_id, chunk_id);
ALTER TABLE ONLY public.embeddings_outsidestore
    ADD CONSTRAINT embeddings_outsidestore_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_sentencevectors
    ADD CONSTRAINT embeddings_sentencevectors_pkey PRIMARY KEY (chunk_id, model_id);
ALTER TABLE ONLY public.embeddings_vectorindex
    ADD CONSTRAINT embeddings_vectorindex_pkey PRIMARY KEY (model_id);
ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT feedback_one_per_caller UNIQUE (query_id, caller);
ALTER TABLE ONLY public.documents_idempotencyrecord
    ADD CONSTRAINT idempotency_one_per_key UNIQUE (scope, key);
ALTER TABLE ONLY public.documents_ingestitem
    ADD CONSTRAINT items_one_per_position UNIQUE (job_id, "position");
ALTER TABLE ONLY public.documents_apikeycollection
    ADD CONSTRAINT keys_bound_once UNIQUE (key_id, collection_id);
ALTER TABLE ONLY public.documents_page
    ADD CONSTRAINT pages_one_per_number UNIQUE (document_id, number);
ALTER TABLE ONLY public.rag_querycount
    ADD CONSTRAINT query_counts_one_per_day UNIQUE (collection_id, day);
ALTER TABLE ONLY public.rag_candidates
    ADD CONSTRAINT rag_candidates_pkey PRIMARY KEY (query_id);
ALTER TABLE ONLY public.rag_citation
    ADD CONSTRAINT rag_citation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_evaluation
    ADD CONSTRAINT rag_evaluation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_evaluationresult
    ADD CONSTRAINT rag_evaluationresult_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT rag_feedback_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_query
    ADD CONSTRAINT rag_query_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_querycount
    ADD CONSTRAINT rag_querycount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_questionset
    ADD CONSTRAINT rag_questionset_name_key UNIQUE (name);
ALTER TABLE ONLY public.rag_questionset
    ADD CONSTRAINT rag_questionset_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rag_response
    ADD CONSTRAINT rag_response_pkey PRIMARY KEY (query_id);
ALTER TABLE ONLY public.rag_setquestion
    ADD CONSTRAINT rag_setquestion_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.embeddings_embeddingrequest
    ADD CONSTRAINT requests_one_per_chunk UNIQUE (chunk_id, model_id);
ALTER TABLE ONLY public.rag_evaluationresult
    ADD CONSTRAINT results_one_per_question UNIQUE (evaluation_id, "position", configuration);
ALTER TABLE ONLY public.rag_setquestion
    ADD CONSTRAINT set_questions_in_order UNIQUE (question_set_id, "position");
ALTER TABLE ONLY public.rag_setquestion
    ADD CONSTRAINT set_questions_one_per_key UNIQUE (question_set_id, key);
CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);
CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);
CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);
CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);
CREATE INDEX auth_user_groups_group_id_97559544 ON public.auth_user_groups USING btree (group_id);
CREATE INDEX auth_user_groups_user_id_6a12ed8b ON public.auth_user_groups USING btree (user_id);
CREATE INDEX auth_user_user_permissions_permission_id_1fbb5f2c ON public.auth_user_user_permissions USING btree (permission_id);
CREATE INDEX auth_user_user_permissions_user_id_a95ead1b ON public.auth_user_user_permissions USING btree (user_id);
CREATE INDEX auth_user_username_6821ab7c_like ON public.auth_user USING btree (username varchar_pattern_ops);
CREATE INDEX changes_of_collection ON public.documents_collectionchange USING btree (collection_id) INCLUDE (mark);
CREATE INDEX chunks_by_chapter ON public.documents_chunk USING hash (chapter) WHERE (NOT (chapter = ''::text));
CREATE INDEX chunks_by_section ON public.documents_chunk USING hash (section) WHERE (NOT (section = ''::text));
CREATE INDEX citations_by_document ON public.rag_citation USING btree (document_id);
CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON public.django_admin_log USING btree (content_type_id);
CREATE INDEX django_admin_log_user_id_c564eba6 ON public.django_admin_log USING btree (user_id);
CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);
CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);
CREATE INDEX documents_apikey_prefix_59bf0fe2_like ON public.documents_apikey USING btree (prefix varchar_pattern_ops);
CREATE INDEX documents_apikeycollection_collection_id_1be9a3d7 ON public.documents_apikeycollection USING btree (collection_id);
CREATE INDEX documents_apikeycollection_key_id_0bf9d5c6 ON public.documents_apikeycollection USING btree (key_id);
CREATE INDEX documents_by_age ON public.documents_document USING btree (collection_id, created_at, id);
CREATE INDEX documents_by_change ON public.documents_document USING btree (updated_at, id) WHERE (replaces_id IS NULL);
CREATE INDEX documents_by_creation ON public.documents_document USING btree (created_at, id) WHERE (replaces_id IS NULL);
CREATE INDEX documents_by_file ON public.documents_document USING btree (file);
CREATE INDEX documents_by_language ON public.documents_document USING btree (collection_id, language);
CREATE INDEX documents_by_metadata ON public.documents_document USING gin (metadata jsonb_path_ops);
CREATE INDEX documents_by_size ON public.documents_document USING btree (COALESCE(size_bytes, (0)::bigint), id) WHERE (replaces_id IS NULL);
CREATE INDEX documents_by_title ON public.documents_document USING btree (title, id) WHERE (replaces_id IS NULL);
CREATE INDEX documents_chunk_document_id_3b191792 ON public.documents_chunk USING btree (document_id);
CREATE INDEX documents_collection_name_9b71c3a8_like ON public.documents_collection USING btree (name varchar_pattern_ops);
CREATE INDEX documents_document_collection_id_041e3fe8 ON public.documents_document USING btree (collection_id);
CREATE INDEX documents_document_replaces_id_54d67f4d ON public.documents_document USING btree (replaces_id);
CREATE INDEX documents_ingestitem_collection_id_30ba581c ON public.documents_ingestitem USING btree (collection_id);
CREATE INDEX documents_ingestitem_job_id_396136a7 ON public.documents_ingestitem USING btree (job_id);
CREATE INDEX documents_ingestitem_replaces_id_8678ae9f ON public.documents_ingestitem USING btree (replaces_id);
CREATE INDEX documents_ingestjob_collection_id_7ff4274b ON public.documents_ingestjob USING btree (collection_id);
CREATE UNIQUE INDEX documents_one_per_checksum ON public.documents_document USING btree (collection_id, checksum) WHERE (replaces_id IS NULL);
CREATE UNIQUE INDEX documents_one_replacement ON public.documents_document USING btree (replaces_id) WHERE (replaces_id IS NOT NULL);
CREATE INDEX documents_page_document_id_cf356d1a ON public.documents_page USING btree (document_id);
CREATE INDEX documents_processing ON public.documents_document USING btree (id) WHERE ((status)::text = 'processing'::text);
CREATE INDEX embeddings_by_collection ON public.embeddings_embedding USING btree (model_id, collection_id);
CREATE INDEX embeddings_embedding_chunk_id_986c4d7d ON public.embeddings_embedding USING btree (chunk_id);
CREATE INDEX embeddings_embedding_model_id_cba7ae94 ON public.embeddings_embedding USING btree (model_id);
CREATE INDEX embeddings_embeddingmodel_name_46aeeea8_like ON public.embeddings_embeddingmodel USING btree (name varchar_pattern_ops);
CREATE INDEX embeddings_embeddingrequest_chunk_id_9d57a77e ON public.embeddings_embeddingrequest USING btree (chunk_id);
CREATE INDEX embeddings_embeddingrequest_run_id_14267ab4 ON public.embeddings_embeddingrequest USING btree (run_id);
CREATE INDEX embeddings_indexmeasurement_model_id_9be2caec ON public.embeddings_indexmeasurement USING btree (model_id);
CREATE INDEX embeddings_sentencevectors_chunk_id_13aca6c4 ON public.embeddings_sentencevectors USING btree (chunk_id);
CREATE INDEX embeddings_sentencevectors_model_id_b1810f14 ON public.embeddings_sentencevectors USING btree (model_id);
CREATE INDEX evaluations_open ON public.rag_evaluation USING btree (taken_at) WHERE ((status)::text = ANY ((ARRAY['pending'::character varying, 'running'::character varying])::text[]));
CREATE INDEX feedback_by_rating ON public.rag_feedback USING btree (rating, query_id);
CREATE INDEX idempotency_by_age ON public.documents_idempotencyrecord USING btree (created_at);
CREATE INDEX ingest_jobs_by_age ON public.documents_ingestjob USING btree (collection_id, created_at);
CREATE INDEX items_by_age ON public.documents_ingestitem USING btree (collection_id, created_at);
CREATE INDEX items_by_file ON public.documents_ingestitem USING btree (file);
CREATE UNIQUE INDEX items_one_replacement ON public.documents_ingestitem USING btree (replaces_id) WHERE ((replaces_id IS NOT NULL) AND ((status)::text = ANY ((ARRAY['pending'::character varying, 'processing'::character varying])::text[])));
CREATE INDEX items_open ON public.documents_ingestitem USING btree (id) WHERE ((status)::text = ANY ((ARRAY['pending'::character varying, 'processing'::character varying])::text[]));
CREATE INDEX items_open_by_checksum ON public.documents_ingestitem USING btree (collection_id, checksum) WHERE ((status)::text = ANY ((ARRAY['pending'::character varying, 'processing'::character varying])::text[]));
CREATE INDEX items_unstored ON public.documents_ingestitem USING btree (created_at, id) WHERE ((deleted_at IS NULL) AND (replaces_id IS NULL) AND (NOT ((status)::text = 'completed'::text)));
CREATE INDEX lexeme_counts ON public.embeddings_lexemecount USING btree (collection_id, lexeme) INCLUDE (chunks);
CREATE INDEX lexical_by_lexeme ON public.embeddings_lexicalentry USING gin (lexemes);
CREATE INDEX measurements_of_model ON public.embeddings_indexmeasurement USING btree (model_id, id DESC);
CREATE UNIQUE INDEX models_one_active ON public.embeddings_embeddingmodel USING btree (active) WHERE active;
CREATE INDEX outbox_by_lease ON public.embeddings_outboxentry USING btree (lease) WHERE (lease IS NOT NULL);
CREATE INDEX outbox_in_order ON public.embeddings_outboxentry USING btree (version);
CREATE INDEX queries_by_age ON public.rag_query USING btree (created_at, id);
CREATE INDEX queries_by_conversation ON public.rag_query USING btree (conversation_id, key_id, created_at) WHERE (NOT ((conversation_id)::text = ''::text));
CREATE INDEX rag_evaluation_question_set_id_20a932ef ON public.rag_evaluation USING btree (question_set_id);
CREATE INDEX rag_querycount_collection_id_ccfba109 ON public.rag_querycount USING btree (collection_id);
CREATE INDEX rag_questionset_collection_id_18921663 ON public.rag_questionset USING btree (collection_id);
CREATE INDEX rag_questionset_name_e6cab15f_like ON public.rag_questionset USING btree (name varchar_pattern_ops);
CREATE INDEX requests_by_batch ON public.embeddings_embeddingrequest USING btree (batch);
CREATE INDEX requests_by_lease ON public.embeddings_embeddingrequest USING btree (lease) WHERE (lease IS NOT NULL);
CREATE INDEX requests_by_run ON public.embeddings_embeddingrequest USING btree (run_id, id);
CREATE INDEX requests_due ON public.embeddings_embeddingrequest USING btree (leased_until) WHERE (leased_until IS NOT NULL);
CREATE INDEX responses_by_faithfulness ON public.rag_response USING btree (faithfulness_score, query_id) WHERE (faithfulness_score < (1.0)::double precision);
CREATE INDEX responses_to_judge ON public.rag_response USING btree (created_at) WHERE ((faithfulness_judged_at IS NULL) AND (NOT (answer = ''::text)));
CREATE INDEX results_by_cited ON public.rag_evaluationresult USING gin (cited);
CREATE INDEX runs_open ON public.embeddings_embeddingrun USING btree (created_at) WHERE (requested > (embedded + failed));
CREATE TRIGGER documents_change_by_delete AFTER DELETE ON public.documents_document REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.documents_documents_changed();
CREATE TRIGGER documents_change_by_insert AFTER INSERT ON public.documents_document REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.documents_documents_changed();
CREATE TRIGGER documents_change_by_update AFTER UPDATE ON public.documents_document REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION public.documents_documents_rewritten();
CREATE TRIGGER embeddings_change_by_delete AFTER DELETE ON public.embeddings_embedding REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_chunks_changed();
CREATE TRIGGER embeddings_change_by_insert AFTER INSERT ON public.embeddings_embedding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_collections_changed();
CREATE TRIGGER embeddings_change_by_sentences AFTER INSERT ON public.embeddings_sentencevectors REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_chunks_changed();
CREATE TRIGGER embeddings_change_by_update AFTER UPDATE ON public.embeddings_embedding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_collections_changed();
CREATE TRIGGER embeddings_change_by_words AFTER UPDATE ON public.embeddings_lexicalentry REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_collections_changed();
CREATE TRIGGER embeddings_lexemes_in AFTER INSERT ON public.embeddings_lexicalentry REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_count_lexemes();
CREATE TRIGGER embeddings_lexemes_moved AFTER UPDATE ON public.embeddings_lexicalentry REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_count_moved_lexemes();
CREATE TRIGGER embeddings_lexemes_out AFTER DELETE ON public.embeddings_lexicalentry REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_count_lexemes();
CREATE TRIGGER embeddings_outbox_by_delete AFTER DELETE ON public.embeddings_embedding REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_insert AFTER INSERT ON public.embeddings_embedding REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_vectors_to_outbox();
CREATE TRIGGER embeddings_outbox_by_update AFTER UPDATE ON public.embeddings_embedding REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION public.embeddings_rewritten_to_outbox();
CREATE TRIGGER rag_collections_gone AFTER DELETE ON public.documents_collection REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.rag_forget_evaluations();
CREATE TRIGGER rag_documents_gone AFTER DELETE ON public.documents_document REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.rag_forget_answers();
CREATE TRIGGER rag_quoted_documents_gone AFTER DELETE ON public.documents_document REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION public.rag_forget_quotes();
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_group_id_97559544_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_6a12ed8b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_a95ead1b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.documents_apikeycollection
    ADD CONSTRAINT documents_apikeycollection_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_apikeycollection
    ADD CONSTRAINT documents_apikeycollection_key_id_fk FOREIGN KEY (key_id) REFERENCES public.documents_apikey(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_chunk
    ADD CONSTRAINT documents_chunk_document_id_fk FOREIGN KEY (document_id) REFERENCES public.documents_document(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_document
    ADD CONSTRAINT documents_document_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_document
    ADD CONSTRAINT documents_document_replaces_id_fk FOREIGN KEY (replaces_id) REFERENCES public.documents_document(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_ingestitem
    ADD CONSTRAINT documents_ingestitem_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_ingestitem
    ADD CONSTRAINT documents_ingestitem_job_id_fk FOREIGN KEY (job_id) REFERENCES public.documents_ingestjob(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_ingestitem
    ADD CONSTRAINT documents_ingestitem_replaces_id_fk FOREIGN KEY (replaces_id) REFERENCES public.documents_document(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_ingestjob
    ADD CONSTRAINT documents_ingestjob_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.documents_page
    ADD CONSTRAINT documents_page_document_id_fk FOREIGN KEY (document_id) REFERENCES public.documents_document(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embedding
    ADD CONSTRAINT embeddings_embedding_chunk_id_fk FOREIGN KEY (chunk_id) REFERENCES public.documents_chunk(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embedding
    ADD CONSTRAINT embeddings_embedding_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embeddingrequest
    ADD CONSTRAINT embeddings_embeddingrequest_chunk_id_fk FOREIGN KEY (chunk_id) REFERENCES public.documents_chunk(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embeddingrequest
    ADD CONSTRAINT embeddings_embeddingrequest_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embeddingrequest
    ADD CONSTRAINT embeddings_embeddingrequest_run_id_fk FOREIGN KEY (run_id) REFERENCES public.embeddings_embeddingrun(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_embeddingrun
    ADD CONSTRAINT embeddings_embeddingrun_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_indexmeasurement
    ADD CONSTRAINT embeddings_indexmeasurement_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_lexicalentry
    ADD CONSTRAINT embeddings_lexicalentry_chunk_id_fk FOREIGN KEY (chunk_id) REFERENCES public.documents_chunk(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_sentencevectors
    ADD CONSTRAINT embeddings_sentencevectors_chunk_id_fk FOREIGN KEY (chunk_id) REFERENCES public.documents_chunk(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_sentencevectors
    ADD CONSTRAINT embeddings_sentencevectors_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.embeddings_vectorindex
    ADD CONSTRAINT embeddings_vectorindex_model_id_fk FOREIGN KEY (model_id) REFERENCES public.embeddings_embeddingmodel(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_candidates
    ADD CONSTRAINT rag_candidates_query_id_fk FOREIGN KEY (query_id) REFERENCES public.rag_query(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_citation
    ADD CONSTRAINT rag_citation_response_id_fk FOREIGN KEY (response_id) REFERENCES public.rag_response(query_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_evaluation
    ADD CONSTRAINT rag_evaluation_question_set_id_fk FOREIGN KEY (question_set_id) REFERENCES public.rag_questionset(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_evaluationresult
    ADD CONSTRAINT rag_evaluationresult_evaluation_id_fk FOREIGN KEY (evaluation_id) REFERENCES public.rag_evaluation(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT rag_feedback_query_id_fk FOREIGN KEY (query_id) REFERENCES public.rag_query(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_querycount
    ADD CONSTRAINT rag_querycount_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_questionset
    ADD CONSTRAINT rag_questionset_collection_id_fk FOREIGN KEY (collection_id) REFERENCES public.documents_collection(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_response
    ADD CONSTRAINT rag_response_query_id_fk FOREIGN KEY (query_id) REFERENCES public.rag_query(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rag_setquestion
    ADD CONSTRAINT rag_setquestion_question_set_id_fk FOREIGN KEY (question_set_id) REFERENCES public.rag_questionset(id) ON DELETE CASCADE;
