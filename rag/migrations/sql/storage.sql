-- A row of 2 to 8 kB would be squeezed first, which costs more than all else and brings little.
ALTER TABLE rag_candidates SET (toast_tuple_target = 8160);
