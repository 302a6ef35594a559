"""A small OpenID Connect provider on loopback: discovery, authorize, a signed token, userinfo, JWKS."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET, KEY_ID = "knowlex-client", "knowlex-secret", "one"


class OidcProvider:
    """Use as a context manager. `person`: the claims of whoever logs in next, at once and without a form."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.refuses = False
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(provider) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                given = {name: values[0] for name, values in parse_qs(parts.query).items()}
                if parts.path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider._authorize(given))
                    self.end_headers()
                elif parts.path == "/userinfo":
                    token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                    known = provider._tokens.get(token)
                    self._reply(known or {"error": "invalid_token"}, 200 if known else 401)
                else:
                    self._reply(provider._documents()[parts.path])

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                given = {name: values[0] for name, values in parse_qs(body).items()}
                reply = provider._grant(given)
                self._reply(reply or {"error": "invalid_grant"}, 200 if reply else 400)

            def _reply(self, body: Any, status: int = 200) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    def _documents(self) -> dict[str, Any]:
        jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/jwks",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            },
            "/jwks": {"keys": [{**jwk, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]},
        }

    def _authorize(self, given: dict[str, str]) -> str:
        assert (given["client_id"], given["response_type"]) == (CLIENT_ID, "code"), given
        assert given["code_challenge_method"] == "S256", given
        back = {"state": given["state"]}
        if self.refuses:
            back["error"] = "access_denied"
        else:
            back["code"] = secrets.token_urlsafe(16)
            self._codes[back["code"]] = given
        return f"{given['redirect_uri']}?{urlencode(back)}"

    def _grant(self, given: dict[str, str]) -> dict[str, Any] | None:
        """Each code once, to who has the secret, the address and the verifier that go with it."""
        begun = self._codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            begun is None
            or (given.get("client_id"), given.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET)
            or begun["redirect_uri"] != given.get("redirect_uri")
            or begun["code_challenge"] != challenge
        ):
            return None
        now, token = int(time.time()), secrets.token_urlsafe(16)
        self._tokens[token] = dict(self.person)
        claims = {**self.person, "iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 60}
        signed = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": KEY_ID})
        return {"access_token": token, "token_type": "Bearer", "id_token": signed, "expires_in": 60}
