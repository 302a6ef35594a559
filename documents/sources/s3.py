"""A bucket of S3, or of anything that speaks its protocol, as a source: ListObjectsV2 and GetObject.

Signed by botocore, and sent by the connections that sources use: botocore's own would resolve names anew.
"""

import time
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_plus, urlencode

from documents.sources.reading import (
    LIST_WITHIN_S,
    READ_WITHIN_S,
    SourceFile,
    SourceUnavailable,
    is_hidden,
    storable_path,
)
from documents.sources.web import Reply, Site, check_file_reply, iterate_elements, refusal_of
from knowlex.base.errors import InvalidInput

if TYPE_CHECKING:
    from botocore.credentials import Credentials

PAGE_WITHIN_S = 60.0
_KEY_SAFE = "/~-._"


class S3Reader:
    """SourceReader of what lies below a prefix. Use as a context manager. endpoint: "" for AWS."""

    def __init__(
        self,
        *,
        endpoint: str,
        bucket: str,
        prefix: str,
        region: str,
        access_key_id: str,
        secret_access_key: str,
        allowed_hosts: Collection[str],
    ) -> None:
        self._site = Site(endpoint or f"https://s3.{region}.amazonaws.com", allowed_hosts=allowed_hosts)
        self._base = f"{self._site.target.path.rstrip('/')}/{bucket}"
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._region = region
        self._credentials = _credentials(access_key_id, secret_access_key)

    def __enter__(self) -> "S3Reader":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._site.__exit__()

    def list_files(self) -> Iterator[SourceFile]:
        ends = time.monotonic() + LIST_WITHIN_S
        asked = {"list-type": "2", "encoding-type": "url", "prefix": self._prefix}
        token = ""
        while True:
            if time.monotonic() > ends:
                raise SourceUnavailable(f"The files could not be listed within {LIST_WITHIN_S / 60:.0f} min.")
            query = {**asked, **({"continuation-token": token} if token else {})}
            token = yield from self._list_page(
                f"{self._base}?{urlencode(sorted(query.items()), quote_via=quote)}"
            )
            if not token:
                return

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        with self._get(f"{self._base}/{quote(self._prefix + path, safe=_KEY_SAFE)}", READ_WITHIN_S) as reply:
            check_file_reply(reply)
            yield reply.blocks()

    def _list_page(self, address: str) -> Generator[SourceFile, None, str]:
        """Yield a page's files; return the token of the next page, "" on the last one."""
        token = ""
        with self._get(address, PAGE_WITHIN_S) as reply:
            if reply.status != 200:
                raise refusal_of(reply.status)
            for element in iterate_elements(reply, ["{*}Contents", "{*}NextContinuationToken"]):
                if element.tag.endswith("NextContinuationToken"):
                    token = element.text or ""
                    continue
                path = unquote_plus(element.findtext("{*}Key") or "").removeprefix(self._prefix)
                if not path or path.endswith("/") or is_hidden(path):  # a name with / stands for a folder
                    continue
                size = int(element.findtext("{*}Size") or 0)
                stored, problem = storable_path(path)
                yield SourceFile(stored, size, f"{size}-{element.findtext('{*}ETag') or ''}", problem)
        return token

    @contextmanager
    def _get(self, address: str, within_s: float) -> Iterator[Reply]:
        with self._site.request("GET", address, self._sign(address), within_s=within_s) as reply:
            yield reply

    def _sign(self, address: str) -> list[tuple[str, str]]:
        """Return the headers of AWS's Signature Version 4; none without a key, for public buckets."""
        if self._credentials is None:
            return []
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest

        target = self._site.target
        url = f"{target.scheme}://{target.authority}{address}"
        request = AWSRequest("GET", url, headers={"Host": target.authority})
        S3SigV4Auth(self._credentials, "s3", self._region).add_auth(request)
        return [(name, value) for name, value in request.headers.items() if name.lower() != "host"]


def _credentials(key_id: str, secret: str) -> "Credentials | None":
    if not key_id:
        return None
    check_botocore()
    from botocore.credentials import Credentials

    return Credentials(key_id, secret)


def check_botocore() -> None:
    """Raise InvalidInput where what signs requests is not installed."""
    if find_spec("botocore") is None:
        raise InvalidInput("Sources in S3 need botocore; pip install -r requirements-s3.txt", field="kind")
