"""Knowlex's own settings with routes added that fail, wait and report on demand, and less patience."""

from knowlex.settings import *  # noqa: F403
from knowlex.settings import LARGE_BODIES, UPLOAD_BODY_BYTES

ROOT_URLCONF = "tests.edges.probe_urls"
LARGE_BODIES = [*LARGE_BODIES, ("POST", "/api/v1/probe/upload", UPLOAD_BODY_BYTES)]
CLIENT_PATIENCE_S = 1.0
