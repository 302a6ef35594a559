"""Knowlex's own settings with routes added that fail, wait and report on demand, and less patience."""

from knowlex.settings import *  # noqa: F403
from knowlex.settings import UPLOAD_PATHS

ROOT_URLCONF = "tests.edges.probe_urls"
UPLOAD_PATHS = [*UPLOAD_PATHS, "/api/v1/probe/upload"]
CLIENT_PATIENCE_S = 1.0
