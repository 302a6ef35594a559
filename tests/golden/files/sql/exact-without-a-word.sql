-- POST /v1/search
-- {"query": "%", "settings": {"mode": "exact"}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2, as exact.sql, statement 2

-- Statement 3, as exact.sql, statement 3
-- $1 = '%'
-- $2 = '\%'
-- $3 = '{<uuid>}'
-- $4 = '20'
-- $5 = '{}'
