"""A real S3 server on loopback (moto's), which checks signatures and rights; objects live in its memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import boto3

from tests.support.servers import ServerProcess

BUCKET, REGION = "knowlex-files", "eu-central-1"
_RIGHTS = '{"Version": "2012-10-17", "Statement": {"Effect": "%s", "Action": "*", "Resource": "*"}}'
_PREPARED_BY = 7  # requests that need no key: those of _prepare
_RUN = (
    "import os, sys; os.environ['INITIAL_NO_AUTH_ACTION_COUNT'] = sys.argv.pop(); "
    "from moto.server import main; main(sys.argv[1:])"
)


class S3Server(ServerProcess):
    """`with S3Server(folder) as s3: Stack(..., env=s3.env("prefix"))`. A kill would empty it: pause it."""

    def __init__(self, folder: Path, *, address: str = "127.0.0.1") -> None:
        super().__init__(folder, health="/moto-api/data.json", address=address)
        self._owner = ("nobody-yet", "nothing-yet")
        self.key_id = self.secret = ""

    def command(self) -> Sequence[str]:
        return ["-c", _RUN, "-H", self.address, "-p", str(self.port), str(_PREPARED_BY)]

    def __enter__(self) -> Self:
        super().__enter__()
        self._prepare()
        return self

    def _prepare(self) -> None:
        self._client("s3").create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        self._owner, (self.key_id, self.secret) = self._add_user("owner"), self._add_user("knowlex")

    def _add_user(self, name: str) -> tuple[str, str]:
        iam = self._client("iam")
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=_RIGHTS % "Allow")
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    @contextmanager
    def forbidden(self) -> Iterator[None]:
        """Knowlex's own key may do nothing meanwhile."""
        iam = self._client("iam")
        iam.put_user_policy(UserName="knowlex", PolicyName="all", PolicyDocument=_RIGHTS % "Deny")
        try:
            yield
        finally:
            iam.put_user_policy(UserName="knowlex", PolicyName="all", PolicyDocument=_RIGHTS % "Allow")

    def options(self, prefix: str) -> dict[str, Any]:
        """Those of S3Files."""
        return {
            "bucket": BUCKET,
            "prefix": prefix,
            "endpoint": self.url,
            "region": REGION,
            "access_key_id": self.key_id,
            "secret_access_key": self.secret,
        }

    def env(self, prefix: str) -> dict[str, str]:
        """The environment of a Knowlex that has its files here."""
        settings = {f"KNOWLEX_S3_{name.upper()}": value for name, value in self.options(prefix).items()}
        return {"KNOWLEX_FILES": "s3", **settings}

    def keys(self, prefix: str) -> set[str]:
        """The names of the objects below the prefix, without it."""
        listed = self.bucket.objects.filter(Prefix=f"{prefix}/")
        return {one.key.removeprefix(f"{prefix}/") for one in listed}

    @property
    def bucket(self) -> Any:
        return boto3.resource("s3", **self._login()).Bucket(BUCKET)

    def _client(self, service: str) -> Any:
        return boto3.client(service, **self._login())

    def _login(self) -> dict[str, str]:
        return {
            "endpoint_url": self.url,
            "region_name": REGION,
            "aws_access_key_id": self._owner[0],
            "aws_secret_access_key": self._owner[1],
        }
