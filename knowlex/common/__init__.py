"""What every app stands on. Imports no app.

Serving a request
    `server`, `handler`     uvicorn's protocol within limits; one request from its head to its last byte
    `one_write`, `unchunked`, `body`, `silence`   sending and reading; a database that hangs
    `routes`, `methods`, `middleware`, `sync_views`, `crowding`   which view, and where it runs
    `cross_site`, `ratelimit`, `rates`   who may ask, and how often
    `faces`, `errors`, `translation`, `http`, `drf`, `schema`   one tree of failures, in each face's words
    `json_input`, `json_output`, `large_json`, `fields`, `paging`, `ids`, `times`   in and out
    `events`, `pump`        answers as they are written

Asking others
    `retry`                 the only retry loop
    `json_wire`, `bounded_http`, `proxies`   HTTP with bounded bodies, through a proxy if one is named
    `ollama`, `model_servers`       what all that ask Ollama share; whether models are there
    `valkey`, `shared_cache`        single commands, and what may be forgotten at any time

The database
    `async_db`, `connections`, `prepared`, `sharing`, `turns`   on event loops, holding no thread
    `database`              from threads
    `replica`               reading from a replica that has what the primary told

Running
    `components`            settings.KNOWLEX -> the one instance of each part
    `per_loop`, `background`, `threads`, `giving_up`   loops, threads, and work that is not waited for
    `liveness`, `heartbeat` which workers are alive, and at work
    `logging`, `tracing`, `metrics`, `terminal`   what is told of it
"""
