"""Files in a bucket of S3, or of anything that speaks its protocol (MinIO, Ceph, Garage, R2 …).

Each file is one PUT, which is there as a whole or not at all, and leaves no parts behind. It is signed with
the SHA-256 of its bytes, so what arrived damaged is refused. Names get a random part, so that nobody ever
writes over what another has written.

A bucket (with its prefix) is one database's: who comes first leaves a mark there, and whoever finds another's
mark does nothing. A copy of a database would else delete the files of the first as files without a row.
"""

import errno
import logging
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import IO, Any
from urllib.parse import urlsplit

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.session import get_session

from documents.types import KEPT, FilesState, KeptFile
from knowlex.base.errors import FilesUnavailable, StorageUnavailable
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.disk import NO_ROOM
from knowlex.values import is_loopback

CONNECT_S, READ_S, TRIES = 2, 10, 2
LOOK_EVERY_S = 15.0  # that it can be written to is tried anew: each try is a PUT, which providers charge for
PAGE = 1000  # names of a listing, at most that many
FEW = 3  # names that are asked for one by one
MARK, PROBE = "knowlex_owner", "knowlex_probe"
UNREACHABLE = "The store of files cannot be reached."
REFUSED = "The store of files refuses this server."
ANOTHERS = "The bucket of files belongs to another Knowlex."
# Of this database and no copy of it: a standby has the same, a dump that was restored elsewhere has not.
_IDENTITY = """
    SELECT CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
                THEN (SELECT system_identifier::text FROM pg_control_system()) ELSE current_database() END
        || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_ABSENT = {"404", "NoSuchKey", "NotFound"}
_FULL = {"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}
_NO_RIGHT = {"AccessDenied", "MethodNotAllowed", "AllAccessDisabled", "403"}
_STATES: dict[str, FilesState] = {"NoSuchBucket": "missing", **dict.fromkeys(_NO_RIGHT, "read_only")}
log = logging.getLogger(__name__)


class S3Files:
    """FileStore in a bucket.

    endpoint: "" for AWS. access_key_id, secret_access_key: "" for what AWS's own tools would use (variables
    AWS_…, files, the machine's role). unowned_after_s: the longest that an upload may take from its first PUT
    to its rows; 100 files by two tries of 10 s each are under an hour.
    """

    is_service = True

    def __init__(
        self,
        *,
        bucket: str,
        prefix: str = "",
        endpoint: str = "",
        region: str = "us-east-1",
        access_key_id: str = "",
        secret_access_key: str = "",
        unowned_after_s: float = 6 * 3600.0,
    ) -> None:
        self.unowned_after_s = unowned_after_s
        self.place = f"the bucket {bucket} (KNOWLEX_S3_BUCKET, KNOWLEX_S3_PREFIX)"
        self._bucket, self._prefix = bucket, f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._options = {
            "region_name": region,
            "endpoint_url": endpoint or None,
            "aws_access_key_id": access_key_id or None,
            "aws_secret_access_key": secret_access_key or None,
        }
        self._endpoint = endpoint
        self._forget()
        os.register_at_fork(
            after_in_child=self._forget
        )  # connections are not shared, nor is a lock that is held

    def _forget(self) -> None:
        self._lock = Lock()
        self._connected: Any = None
        self._is_ours = False
        self._looked_at = float("-inf")

    def keep(self, name: str, staged: Path) -> str:
        path = PurePosixPath(name)
        name = str(path.with_name(f"{path.stem}_{secrets.token_hex(4)}{path.suffix}"))
        with staged.open("rb") as source:
            self._put(name, source)
        return name

    def put(self, name: str, source: IO[bytes]) -> None:
        if self.sizes([name]).get(name) != os.fstat(source.fileno()).st_size:
            self._put(name, source)

    def open(self, name: str) -> IO[Any]:
        with _translate_errors(name):
            return _Download(self._client().get_object(**self._object(name))["Body"])  # type: ignore[return-value]

    def path(self, name: str) -> None:
        return None

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        if len(names) > FEW:
            wanted = set(names)
            first, last = min(wanted), max(wanted)
            listed = self._list(start_after=first[:-1], until=last)
            return {file.name: file.size_bytes for file in listed if file.name in wanted}
        found = {}
        for name in filter(None, names):
            try:
                with _translate_errors(name):
                    found[name] = int(self._client().head_object(**self._object(name))["ContentLength"])
            except FileNotFoundError:
                continue
        return found

    def list_files(self) -> Iterator[KeptFile]:
        return self._list()

    def remove(self, name: str) -> None:
        with _translate_errors():
            self._client().delete_object(**self._object(name))

    def remove_unowned(self, name: str, is_owned: Callable[[], bool]) -> bool:
        if is_owned():
            return False
        self.remove(name)
        return True

    def check(self) -> FilesState:
        if time.monotonic() - self._looked_at < LOOK_EVERY_S:
            return "writable"
        try:
            with _translate_errors():
                self._client().put_object(**self._object(PROBE), Body=b"?")
        except StorageUnavailable:
            return "full"
        except FilesUnavailable as exc:
            if exc.message == UNREACHABLE:
                raise
            return _STATES.get(_code(exc.__cause__), "refused")
        self._looked_at = time.monotonic()
        return "writable"

    def _client(self) -> Any:
        """Return the process's client, once it has found that the bucket is this database's."""
        with self._lock:
            if self._connected is None:
                self._connected = get_session().create_client("s3", **self._options, config=self._config())
            client = self._connected
        if not self._is_ours:
            self._claim(client)
        return client

    def _config(self) -> Config:
        return Config(
            connect_timeout=CONNECT_S,
            read_timeout=READ_S,
            retries={"total_max_attempts": TRIES, "mode": "standard"},
            proxies={} if is_loopback(urlsplit(self._endpoint).hostname or "") else None,
            max_pool_connections=32,  # as many as threads that serve requests
            # Stores other than AWS's know neither buckets in the host's name nor its newer checksums.
            s3={"addressing_style": "path" if self._endpoint else "auto", "payload_signing_enabled": True},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )

    def _claim(self, client: Any) -> None:
        (own,) = with_retries(lambda: execute(_IDENTITY))[0]
        try:
            with _translate_errors(MARK):
                owner = client.get_object(**self._object(MARK))["Body"].read(200).decode(errors="replace")
        except FileNotFoundError:
            with _translate_errors():
                client.put_object(**self._object(MARK), Body=own.encode())
            owner = own
        if owner != own:
            raise FilesUnavailable(ANOTHERS)
        self._is_ours = True

    def _put(self, name: str, source: IO[bytes]) -> None:
        with _translate_errors():
            self._client().put_object(**self._object(name), Body=source)

    def _list(self, *, start_after: str = "", until: str = "") -> Iterator[KeptFile]:
        """Yield files by name, from behind `start_after` on; until: the last one that is wanted."""
        request: dict[str, Any] = {
            "Bucket": self._bucket,
            "Prefix": f"{self._prefix}{KEPT}/",
            "MaxKeys": PAGE,
        }
        if start_after:
            request["StartAfter"] = self._prefix + start_after
        while True:
            with _translate_errors():
                page = self._client().list_objects_v2(**request)
            now = parsedate_to_datetime(page["ResponseMetadata"]["HTTPHeaders"]["date"])
            for row in page.get("Contents", ()):
                name = row["Key"].removeprefix(self._prefix)
                if until and name > until:
                    return
                yield KeptFile(name, row["Size"], (now - row["LastModified"]).total_seconds())
            if not page["IsTruncated"]:
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}


class _Download:
    """A file as it comes. One that breaks off is FilesUnavailable, never a shorter file."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def read(self, size: int = -1) -> bytes:
        with _translate_errors():
            data: bytes = self._body.read(None if size < 0 else size)
        return data

    def close(self) -> None:
        self._body.close()

    def __enter__(self) -> "_Download":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


@contextmanager
def _translate_errors(name: str = "") -> Iterator[None]:
    """Translate botocore's errors, which may name keys and addresses. name: of the file that is asked for."""
    try:
        yield
    except ClientError as exc:
        code = _code(exc)
        if name and code in _ABSENT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from exc
        log.error("the store of files refuses", extra={"error": code})
        if code in _FULL:
            raise StorageUnavailable(NO_ROOM) from exc
        is_busy = exc.response["ResponseMetadata"]["HTTPStatusCode"] >= 500
        raise FilesUnavailable(UNREACHABLE if is_busy else REFUSED) from exc
    except (BotoCoreError, HTTPClientError) as exc:
        log.error("the store of files cannot be reached", extra={"error": type(exc).__name__})
        raise FilesUnavailable(UNREACHABLE) from exc


def _code(exc: BaseException | None) -> str:
    return str(exc.response.get("Error", {}).get("Code", "")) if isinstance(exc, ClientError) else ""
