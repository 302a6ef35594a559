-- The second lock: what only reads for a caller with limits does so as a role to which PostgreSQL itself shows no
-- document, page, chunk or job's document that the caller may not read, whatever the statement forgets. Owner and
-- superuser pass the policies: workers, commands and whoever sees all. Without the right to make a role there is
-- this much less; the statements' own filters hold all the same.
DO $$ BEGIN
    BEGIN
        CREATE ROLE knowlex_reader NOLOGIN;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;
        WHEN insufficient_privilege THEN RAISE NOTICE 'no role knowlex_reader: row security is not used';
    END;
    IF to_regrole('knowlex_reader') IS NOT NULL THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO knowlex_reader', current_schema());
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO knowlex_reader', current_schema());
        EXECUTE format(
            'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO knowlex_reader', current_schema());
        BEGIN
            EXECUTE format('GRANT knowlex_reader TO %I', current_user);
        EXCEPTION WHEN insufficient_privilege THEN NULL;
        END;
    END IF;
END $$;
