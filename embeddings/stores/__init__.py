"""Vector stores beside PostgreSQL, one module each: the part VECTOR_STORE."""
