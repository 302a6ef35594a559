"""The kinds of sources: what each is configured by, and who reads it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from django.conf import settings
from pydantic import ConfigDict, Field, model_validator

from documents.ingest.fetching import check_url
from documents.models import Source
from documents.sources.folder import FolderReader, check_folder
from documents.sources.reading import SourceReader, SourceUnavailable
from documents.sources.s3 import S3Reader, check_botocore
from documents.sources.webdav import WebdavReader, check_webdav
from knowlex.base.errors import Forbidden, InvalidInput, KnowlexError
from knowlex.runtime.secrets import SecretLost, decrypt_secret, encrypt_secret
from knowlex.web.shapes import InputShape, parse, storable_text, text

PURPOSE = "sources"
MAX_SECRET_CHARS = 4096
OFF = "This server reads no sources on other hosts; whoever runs it can allow that by KNOWLEX_URL_INGEST=on."
LOST = "The password cannot be read any more, since the server's secret key has changed: enter it again."


class SourceConfig(InputShape):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_others(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in cls.model_fields:
                raise InvalidInput(
                    f"config.{name[:100]} is not known; there are {', '.join(cls.model_fields)}.",
                    field=f"config.{name[:100]}",
                )
        return given


class FolderConfig(SourceConfig):
    path: Annotated[str, text(4096), Field(description="Absolute, below one of KNOWLEX_SOURCE_FOLDERS.")]


class WebdavConfig(SourceConfig):
    url: Annotated[str, text(2048), Field(description="Of the folder.")]
    username: Annotated[str, storable_text(255)] = ""


class S3Config(SourceConfig):
    bucket: Annotated[str, text(255)]
    prefix: Annotated[str, storable_text(1000)] = ""
    endpoint: Annotated[str, storable_text(2048), Field(description="Empty for AWS.")] = ""
    region: Annotated[str, text(64)] = "us-east-1"
    access_key_id: Annotated[str, storable_text(255), Field(description="Empty for public buckets.")] = ""


CONFIGS: Mapping[str, type[SourceConfig]] = {
    Source.Kind.FOLDER: FolderConfig,
    Source.Kind.WEBDAV: WebdavConfig,
    Source.Kind.S3: S3Config,
}


def check_config(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config as it is stored, checked by what needs no network.

    Raises InvalidInput naming the field, Forbidden (a folder that is not allowed; other hosts where URLs are
    off).
    """
    config: Any = parse(CONFIGS[kind], given, within="config")
    if kind == Source.Kind.FOLDER:
        return {"path": check_folder(config.path, settings.SOURCE_FOLDERS)}
    if not settings.URL_INGEST:
        raise Forbidden(OFF, details={"field": "kind"})
    if kind == Source.Kind.WEBDAV:
        check_webdav(config.url, config.username)
        return {**config.model_dump(), "url": _check_address(config.url, "url")}
    if config.access_key_id:
        check_botocore()
    if "/" in config.bucket or "/" in config.region:
        raise InvalidInput("config.bucket must have no slash.", field="config.bucket")
    endpoint = _check_address(config.endpoint, "endpoint") if config.endpoint else ""
    return {**config.model_dump(), "endpoint": endpoint}


def encrypt(secret: str) -> str:
    return encrypt_secret(secret, purpose=PURPOSE)


@contextmanager
def open_source(source: Source) -> Iterator[SourceReader]:
    """Yield the reader of a source. Raises SourceUnavailable."""
    try:
        config = check_config(source.kind, source.config)
        secret = decrypt_secret(source.secret, purpose=PURPOSE)
    except SecretLost:
        raise SourceUnavailable(LOST) from None
    except KnowlexError as exc:  # what was allowed when it was made may not be now
        raise SourceUnavailable(exc.message) from exc
    if source.kind == Source.Kind.FOLDER:
        yield FolderReader(config["path"], settings.SOURCE_FOLDERS)
        return
    hosts = settings.URL_ALLOWED_HOSTS
    reader = (
        WebdavReader(config["url"], config["username"], secret, allowed_hosts=hosts)
        if source.kind == Source.Kind.WEBDAV
        else S3Reader(**config, secret_access_key=secret, allowed_hosts=hosts)
    )
    with reader:
        yield reader


def _check_address(url: str, name: str) -> str:
    try:
        return check_url(url).rstrip("/")
    except InvalidInput as exc:
        raise InvalidInput(exc.message, field=f"config.{name}") from exc
