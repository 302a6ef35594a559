-- POST /v1/search
-- {"query": "node", "settings": {"mode": "dense"}, "filters": {"tags": ["systems"], "metadata": {"year": {"gte": 2019}}, "page": {"from": 1, "to": 9}, "date_range": {"start": "2020-01-01"}}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2, as hybrid-filtered.sql, statement 2
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = '{"",node,write,bitcoin,user}'
-- $8 = NULL

-- Statement 3, as dense-filtered.sql, statement 3
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = <vector of 384 numbers>
-- $8 = '40'
-- $9 = '20'
-- $10 = '{}'
