"""`python -m tests.edges.serve_probe PORT`: the probe routes under the server's own configuration."""

import sys

import uvicorn

from knowlex.serve import bound_socket, server_config

if __name__ == "__main__":
    uvicorn.Server(server_config()).run(sockets=[bound_socket("127.0.0.1", int(sys.argv[1]))])
