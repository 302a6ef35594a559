-- Checked at once, and cascaded by the database itself: one DELETE takes everything along, whatever a worker
-- writes meanwhile.
ALTER TABLE rag_candidates ADD CONSTRAINT rag_candidates_query_id_fk
    FOREIGN KEY (query_id) REFERENCES rag_query (id) ON DELETE CASCADE;
ALTER TABLE rag_citation ADD CONSTRAINT rag_citation_response_id_fk
    FOREIGN KEY (response_id) REFERENCES rag_response (query_id) ON DELETE CASCADE;
ALTER TABLE rag_evaluation ADD CONSTRAINT rag_evaluation_question_set_id_fk
    FOREIGN KEY (question_set_id) REFERENCES rag_questionset (id) ON DELETE CASCADE;
ALTER TABLE rag_evaluationresult ADD CONSTRAINT rag_evaluationresult_evaluation_id_fk
    FOREIGN KEY (evaluation_id) REFERENCES rag_evaluation (id) ON DELETE CASCADE;
ALTER TABLE rag_feedback ADD CONSTRAINT rag_feedback_query_id_fk
    FOREIGN KEY (query_id) REFERENCES rag_query (id) ON DELETE CASCADE;
ALTER TABLE rag_querycount ADD CONSTRAINT rag_querycount_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE rag_questionset ADD CONSTRAINT rag_questionset_collection_id_fk
    FOREIGN KEY (collection_id) REFERENCES documents_collection (id) ON DELETE CASCADE;
ALTER TABLE rag_response ADD CONSTRAINT rag_response_query_id_fk
    FOREIGN KEY (query_id) REFERENCES rag_query (id) ON DELETE CASCADE;
ALTER TABLE rag_setquestion ADD CONSTRAINT rag_setquestion_question_set_id_fk
    FOREIGN KEY (question_set_id) REFERENCES rag_questionset (id) ON DELETE CASCADE;
