-- POST /v1/query
-- {"query": "What happens when a node leaves?"}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2, as exact-several-words.sql, statement 2
-- $1 = '{<uuid>}'
-- $2 = '{"",happen,leav,paid,week,pay,parent,employe,notic}'

-- Statement 3, as hybrid.sql, statement 3
-- $1 = '{<uuid>}'
-- $2 = <vector of 384 numbers>
-- $3 = '40'
-- $4 = '{2625668:3.58352,8382534:3.58352}/16777216'
-- $5 = '''leav'' | ''node'''
-- $6 = '11.849169104036438'
-- $7 = '0.5'
-- $8 = '60'
-- $9 = '0.5'
-- $10 = '20'
-- $11 = '{}'
