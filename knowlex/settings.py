"""Environment -> Django settings. Code reads django.conf.settings, never os.environ."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from documents.types import ChunkingSettings
from knowlex.base.retry import Retry
from knowlex.broker import broker_options, broker_url, redis_client_url
from knowlex.embedded import data_folder
from knowlex.environment import read_environment
from knowlex.net.ollama import short_name
from knowlex.runtime.logging import logging_settings
from knowlex.values import filter_keys
from knowlex.web.static import revalidate_page_modules

django_stubs_ext.monkeypatch()  # else ModelForm[Collection] and the like cannot be imported

BASE_DIR = Path(__file__).resolve().parent.parent
try:
    ENV = read_environment()
except ImproperlyConfigured as exc:  # one line for whoever started manage.py, celery or uvicorn; no traceback
    raise SystemExit(f"knowlex: {exc}") from None

DATA_DIR = (BASE_DIR / ENV.knowlex_data_dir).resolve()
MODELS_DIR = (BASE_DIR / ENV.knowlex_models_dir).resolve()

try:
    SECRET_KEY = ENV.knowlex_secret_key or data_folder.secret_key(DATA_DIR)
except OSError as exc:
    raise SystemExit(f"knowlex: KNOWLEX_DATA_DIR: {DATA_DIR} cannot be used: {exc.strerror}.") from None
DEBUG = False
HOST, PORT = ENV.knowlex_host, ENV.knowlex_port
ALLOWED_HOSTS = ENV.allowed_hosts

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular_sidecar",
    "knowlex",
    "documents",
    "embeddings",
    "rag",
]
# Every request passes these, on the event loop alone; the API passes nothing else.
EDGE_MIDDLEWARE = [
    "knowlex.web.middleware.request_id",
    "knowlex.web.middleware.access_lines",
    "knowlex.web.middleware.security_headers",
    "knowlex.web.middleware.admission",
    "documents.authentication.identify",
    "knowlex.web.middleware.rate_limit",
    "knowlex.web.middleware.problems",
    "documents.authentication.admit",
    "knowlex.web.middleware.cross_site",
]
# Only /admin, /login, /logout, /accounts and /static pass these, in a thread (knowlex.web.handler).
MIDDLEWARE = [
    "knowlex.web.middleware.SecureCookies",
    "knowlex.web.middleware.ProblemMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if ENV.knowlex_oidc_url:  # accounts of an OpenID Connect provider, beside those that the admin makes
    INSTALLED_APPS += [
        "allauth",
        "allauth.account",
        "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
    ]
    MIDDLEWARE += [
        "allauth.account.middleware.AccountMiddleware",
        "documents.accounts.oidc.ProviderFailures",
    ]
    AUTHENTICATION_BACKENDS += ["allauth.account.auth_backends.AuthenticationBackend"]
    SOCIALACCOUNT_ADAPTER = "documents.accounts.oidc.OidcAdapter"
    SOCIALACCOUNT_ONLY = SOCIALACCOUNT_AUTO_SIGNUP = SOCIALACCOUNT_LOGIN_ON_GET = True
    SOCIALACCOUNT_EMAIL_AUTHENTICATION = ACCOUNT_UNIQUE_EMAIL = False  # an address is no proof of an account
    ACCOUNT_EMAIL_VERIFICATION = "none"
    ACCOUNT_SIGNUP_FIELDS = ["username*"]
    ALLAUTH_TRUSTED_PROXY_COUNT = ENV.knowlex_trusted_proxies
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": "knowlex",
                    "name": ENV.knowlex_oidc_name,
                    "client_id": ENV.knowlex_oidc_client_id,
                    "secret": ENV.knowlex_oidc_client_secret,
                    "settings": {"server_url": ENV.knowlex_oidc_url},
                }
            ],
        }
    }
ROOT_URLCONF = "knowlex.urls"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "knowlex" / "templates"],  # before those of Django's admin, which they extend
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ASGI_APPLICATION = "knowlex.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]  # of the page; the admin follows
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True  # static files come straight from the packages; nothing is collected
WHITENOISE_MAX_AGE = 3600
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_ADD_HEADERS_FUNCTION = revalidate_page_modules
# HSTS, the redirect to HTTPS and secure cookies belong to whoever puts TLS in front; `up` serves plain HTTP.
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008", "security.W012", "security.W016"]
if ENV.knowlex_trusted_proxies:  # else the admin would take a page over HTTPS for another site's
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CROSS_ORIGIN_OPENER_POLICY = None  # knowlex.web.middleware.security_headers sends it
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MEDIA_ROOT = DATA_DIR / "files"
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700

DATABASE_URL = ENV.database_url or data_folder.database_url(DATA_DIR)
REDIS_URL = redis_client_url(ENV.redis_url or data_folder.redis_url(DATA_DIR))
# Sync views run on a bounded set of threads; a connection kept for each halves the time of a request (6.5 to
# 2.8 ms measured). A server that vanished from the network is noticed after 4 s.
DATABASE = dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)
DATABASE_OPTIONS = {"connect_timeout": 2, "tcp_user_timeout": 4000, **DATABASE.get("OPTIONS", {})}
DATABASES = {"default": {**DATABASE, "OPTIONS": DATABASE_OPTIONS}}
DATABASE_READ: dict[str, Any] = {}  # of a replica that searches may read from
if ENV.database_read_url:
    REPLICA = dj_database_url.parse(ENV.database_read_url)
    DATABASE_READ = {**REPLICA, "OPTIONS": {**DATABASE_OPTIONS, **REPLICA.get("OPTIONS", {})}}

MAX_UPLOAD_BYTES = ENV.knowlex_max_upload_mb * 1024 * 1024
MAX_BODY_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
UPLOAD_BODY_BYTES = MAX_UPLOAD_BYTES + MAX_BODY_BYTES  # with the form around; the file is counted apart
# In base64 a file is longer by a third; there is room for the largest one with others, or for one too large.
INGEST_BODY_BYTES = 8 * MAX_UPLOAD_BYTES // 3 + 4 * MAX_BODY_BYTES
QUESTION_SET_BODY_BYTES = 16 * MAX_BODY_BYTES
FORM_BODY_BYTES = 4 * MAX_UPLOAD_BYTES + MAX_BODY_BYTES  # several files in the admin
LARGE_BODIES = [
    ("POST", "/api/v1/documents", UPLOAD_BODY_BYTES),
    ("POST", "/admin/documents/document/add/", FORM_BODY_BYTES),
    ("POST", "/admin/documents/document/[^/]+/replace/", UPLOAD_BODY_BYTES),
    ("POST", "/v1/ingest", INGEST_BODY_BYTES),
    ("PUT", "/v1/documents/[^/]+", INGEST_BODY_BYTES),
    ("POST", "/v1/question_sets", QUESTION_SET_BODY_BYTES),
]
URL_INGEST = ENV.knowlex_url_ingest == "on"
URL_ALLOWED_HOSTS = [host.strip() for host in ENV.knowlex_url_allowed_hosts.split(",") if host.strip()]
SOURCE_FOLDERS = [folder for folder in ENV.knowlex_source_folders.split(":") if folder]
PAGE_CACHE_BYTES = (
    ENV.knowlex_page_cache_mb * 1024 * 1024
)  # pictures and layouts of pages that were looked at
CLIENT_PATIENCE_S = 15.0  # for a request's headers, and for each next piece of its body
SPOOL_DIR = DATA_DIR / "tmp"  # for request bodies that are too large for memory

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],  # uploads are read by documents.ingest
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "knowlex.web.drf.JSONAlways",
    "EXCEPTION_HANDLER": "knowlex.web.responses.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
REQUIRE_API_KEY = ENV.require_api_key
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "/login", "/", "/login"
# These need neither a key nor a log-in.
OPEN_PATHS = {"/", "/documents", "/health", "/api/schema", "/api/docs", "/admin", "/login", "/logout"}
# The admin has its own login; the page is an empty shell, whose requests need what all requests need.
OPEN_FOLDERS = ("/static/", "/admin/", "/accounts/", "/documents/", "/d/")
READING_PATHS = {  # though POST
    "/query",
    "/api/v1/rag/query",
    "/api/v1/rag/ask",
    "/api/v1/embeddings/search",
    "/v1/search",
    "/v1/query",
    "/mcp",
    "/v1/feedback",
    "/v1/chat/completions",
    "/v1/embeddings",
    "/v1/dify/retrieval",
}
QUESTION_PATHS = READING_PATHS - {"/v1/feedback", "/v1/embeddings"}
READING_PATTERNS = (r"/v1/queries/[^/]+/replay",)  # the same, with an id
QUESTION_PATTERN = "|".join([*map(re.escape, sorted(QUESTION_PATHS)), *READING_PATTERNS])
OIDC_NAME = ENV.knowlex_oidc_name if ENV.knowlex_oidc_url else ""
OIDC_GROUPS_CLAIM = ENV.knowlex_oidc_groups_claim
RATE_LIMIT = ENV.knowlex_rate_limit
DAILY_TOKENS = ENV.knowlex_daily_tokens  # of chat models and paid embedders, in all; None: no ceiling
PUBLIC_URL = ENV.knowlex_public_url  # without a slash at the end; "" for the host that was asked
TRUSTED_PROXIES = ENV.knowlex_trusted_proxies
RELEVANCE_THRESHOLD = ENV.knowlex_relevance_threshold
CONTEXT_FLOOR = ENV.knowlex_context_floor  # relevance; what a chat model is shown at the least
STRICT_VERIFICATION = ENV.knowlex_verification == "strict"  # only verified claims keep their markers
ANSWER_TIMEOUT_S = ENV.answer_timeout  # of a whole question, retrieval and synthesis together
CONTEXT_TOKENS = ENV.knowlex_context_tokens
CHAT_CONTEXT_TOKENS = ENV.knowlex_chat_context_tokens  # the chat model's window; None: large enough
HISTORY_TOKENS = ENV.knowlex_history_tokens
REWRITING_TIMEOUT_S = ENV.rewriting_timeout  # of a chat model, for a question
QUERY_LOG = ENV.knowlex_query_log == "on"
QUERY_RETENTION_DAYS = ENV.knowlex_query_retention_days
CACHE = ENV.knowlex_cache == "on"
ANSWER_CACHE_S = ENV.knowlex_answer_cache_seconds
FILTER_KEYS = filter_keys(ENV.knowlex_filter_keys)  # key -> type, "" for any; None allows every key

EMBEDDERS: dict[str, dict[str, Any]] = {
    "local": {
        "class": "embeddings.embedders.choosing.local_embedder",
        "provider": "local",
        "options": {"models_dir": MODELS_DIR, **ENV.local_model},
    },
    "openai": {
        "class": "embeddings.embedders.openai.OpenAIEmbedder",
        "options": {
            "api_key": ENV.openai_api_key,
            "base_url": ENV.openai_base_url or None,
            "model_name": ENV.knowlex_embedding_model or "text-embedding-3-small",
            "dimensions": ENV.knowlex_embedding_dimensions,
            "timeout_s": ENV.knowlex_embedding_timeout_seconds,
        },
    },
    "ollama": {
        "class": "embeddings.embedders.ollama.OllamaEmbedder",
        "options": {
            "host": ENV.ollama_host,
            "model_name": short_name(ENV.knowlex_embedding_model or "nomic-embed-text"),
            "dimensions": ENV.knowlex_embedding_dimensions,
            "keep_alive": ENV.ollama_keep_alive,
            "timeout_s": ENV.knowlex_embedding_timeout_seconds,
        },
    },
}
EMBEDDER_CHOSEN = ENV.embedder_chosen
LLM_TIMEOUT_S = ENV.knowlex_llm_timeout_seconds
CHAT: dict[str, dict[str, Any]] = {
    "openai": {
        "api_key": ENV.openai_api_key,
        "base_url": ENV.openai_base_url or None,
        "model_name": ENV.knowlex_chat_model or "gpt-4o-mini",
        "timeout_s": ENV.knowlex_llm_timeout_seconds,
        "temperature": ENV.knowlex_chat_temperature,
        "most_tokens": ENV.reply_tokens,
    },
    "ollama": {
        "host": ENV.ollama_host,
        "model_name": ENV.knowlex_chat_model or ENV.ollama_model,
        "timeout_s": min(ENV.ollama_timeout_seconds, ENV.knowlex_llm_timeout_seconds),
        "temperature": ENV.knowlex_chat_temperature,
        "context_tokens": ENV.knowlex_context_tokens,
        "window": ENV.knowlex_chat_context_tokens,
        "keep_alive": ENV.ollama_keep_alive,
    },
}
STRUCTURED = {"structured": ENV.knowlex_structured_claims}
SYNTHESIZERS: dict[str, dict[str, Any]] = {
    "extractive": {
        "class": "rag.synthesizers.extractive.ExtractiveSynthesizer",
        "options": {"reading": ENV.knowlex_sentence_reader == "on"},
    },
    "openai": {"class": "rag.synthesizers.openai.OpenAISynthesizer", "options": CHAT["openai"] | STRUCTURED},
    "ollama": {"class": "rag.synthesizers.ollama.OllamaSynthesizer", "options": CHAT["ollama"] | STRUCTURED},
}
RERANKERS: dict[str, dict[str, Any]] = {
    "sentence": {"class": "rag.rerankers.sentence.SentenceReranker"},
    "none": {"class": "rag.rerankers.none.KeepOrder"},
    "cross-encoder": {
        "class": "rag.rerankers.cross_encoder.CrossEncoderReranker",
        "options": {
            "model": ENV.knowlex_reranker_model,
            "timeout_s": ENV.knowlex_reranker_timeout_seconds,
        },
    },
    "http": {
        "class": "rag.rerankers.http.HttpReranker",
        "options": {
            "base_url": ENV.knowlex_reranker_url,
            "api_key": ENV.knowlex_reranker_api_key,
            "model_name": ENV.knowlex_reranker_model,
            "timeout_s": ENV.knowlex_reranker_timeout_seconds,
        },
    },
}
CLAIM_JUDGES: dict[str, dict[str, Any]] = {
    "words": {"class": "rag.citations.judge.WordJudge"},
    "chat": {
        "class": "rag.citations.judge.WordJudge"
    },  # no answer waits for a second call: see ANSWER_READER
    "nli": {"class": "rag.judges.nli.NliJudge", "options": {"model": ENV.knowlex_claim_judge_model}},
}
# Where KNOWLEX has no part VECTOR_STORE, PostgreSQL itself is searched, by pgvector.
VECTOR_STORE_OPTIONS = {
    "url": ENV.vector_store_url,
    "api_key": ENV.vector_store_api_key,
    "timeout_s": ENV.vector_store_timeout_seconds,
}
VECTOR_STORES: dict[str, dict[str, Any]] = {
    "qdrant": {"class": "embeddings.stores.qdrant.QdrantStore", "options": VECTOR_STORE_OPTIONS},
    "chroma": {
        "class": "embeddings.stores.chroma.ChromaStore",
        "options": VECTOR_STORE_OPTIONS
        | {"tenant": ENV.vector_store_tenant, "database": ENV.vector_store_database},
    },
    "memory": {"class": "embeddings.stores.memory.MemoryStore"},
}
VECTOR_STORE_COLLECTION = ENV.vector_store_collection  # what its collections' names begin with
# How documents are split where neither the job nor the collection says it.
FILE_STORES: dict[str, dict[str, Any]] = {
    "local": {"class": "documents.file_stores.local.LocalFiles"},
    "s3": {
        "class": "documents.file_stores.s3.S3Files",
        "options": {
            "bucket": ENV.knowlex_s3_bucket,
            "prefix": ENV.knowlex_s3_prefix,
            "endpoint": ENV.knowlex_s3_endpoint,
            "region": ENV.knowlex_s3_region,
            "access_key_id": ENV.knowlex_s3_access_key_id,
            "secret_access_key": ENV.knowlex_s3_secret_access_key,
        },
    },
}
CHUNKING = ChunkingSettings(size=ENV.knowlex_chunk_tokens, overlap=ENV.knowlex_chunk_overlap)
KNOWLEX: dict[str, dict[str, Any]] = {
    "FILE_STORE": FILE_STORES[ENV.knowlex_files],
    "EXTRACTOR": {
        "class": "documents.extractors.sandbox.extractor.SandboxedExtractor",
        "options": {
            "pdf_reader": ENV.knowlex_pdf_reader,
            "processes": ENV.knowlex_extractor_processes,
            "ocr": ENV.knowlex_ocr,
            "ocr_languages": ENV.knowlex_ocr_languages,
        },
    },
    "PAGE_VIEWER": {
        "class": "documents.extractors.sandbox.viewer.SandboxedPageViewer",
        "options": {"processes": ENV.knowlex_viewer_processes},
    },
    "TOKENIZER": {"class": "documents.text.tokens.WordPieceCounter"},
    "CHUNKER_FIXED": {"class": "documents.chunkers.fixed.FixedChunker"},
    "CHUNKER_SENTENCE": {"class": "documents.chunkers.sentence.SentenceChunker"},
    "CHUNKER_SEMANTIC": {"class": "documents.chunkers.semantic.SemanticChunker"},
    "SENTENCE_EMBEDDER": {"class": "embeddings.search.sentence_embedder.ActiveModelEmbedder"},
    "EMBEDDER": EMBEDDERS[ENV.embedder],
    "EMBEDDING_MODEL": {"class": "embeddings.active_model.ActiveModel"},
    "RETRIEVER": {
        "class": "rag.retrievers.rewriting.RewritingRetriever",
        "options": {
            "on": ENV.knowlex_query_rewriting == "on",
            "timeout_s": REWRITING_TIMEOUT_S,
        },
    },
    "PLAIN_RETRIEVER": {
        "class": "rag.retrievers.widened.WidenedRetriever",
        "options": {"rrf_k": ENV.knowlex_rrf_k, "dense_weight": ENV.knowlex_dense_weight},
    },
    "RERANKER": RERANKERS[ENV.knowlex_reranker],
    "SYNTHESIZER": SYNTHESIZERS[ENV.synthesizer],
    "CLAIM_JUDGE": CLAIM_JUDGES[ENV.knowlex_claim_judge],
}
if ENV.knowlex_vector_store != "pgvector":
    KNOWLEX["VECTOR_STORE"] = VECTOR_STORES[ENV.knowlex_vector_store]
# Who rewrites questions, if anybody does. Not asked again: the plain search has its result by then.
CHAT_CLASSES = {"openai": "rag.chat.openai.OpenAIChat", "ollama": "rag.chat.ollama.OllamaChat"}
if ENV.chat_model:
    KNOWLEX["CHAT_MODEL"] = {
        "class": CHAT_CLASSES[ENV.chat_model],
        "options": CHAT[ENV.chat_model] | {"retry": Retry(retries=0, base_s=1.0)},
    }
# Who reads unverified claims after the answer, if anybody does: in a worker, so it may take its time.
ANSWER_READERS = {"openai": "rag.judges.chat.openai_judge", "ollama": "rag.judges.chat.ollama_judge"}
READING_TIMEOUT_S = 45.0  # of a call, retries included; within the worker's lease of 60 s
if ENV.knowlex_claim_judge == "chat":
    KNOWLEX["ANSWER_READER"] = {
        "class": ANSWER_READERS[ENV.chat_model],
        "options": CHAT[ENV.chat_model] | {"timeout_s": READING_TIMEOUT_S},
    }

EMBEDDING_BATCH = 20
VECTOR_INDEX = ENV.knowlex_vector_index
VECTOR_INDEX_STORAGE = ENV.knowlex_vector_index_storage
WORKERS = ENV.workers
# By `up`, of those that share a port: the number of this one, "" for one that is alone; how many they are.
WEB_PROCESSES = ENV.web_processes
WEB_PROCESS = os.environ.get("KNOWLEX_WEB_PROCESS", "")
COUNTS_DIR = data_folder.counts_dir(DATA_DIR)
SHARING_PROCESSES = WEB_PROCESSES if WEB_PROCESS else 1

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_BROKER_USE_SSL, CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(REDIS_URL)
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_BROKER_CONNECTION_RETRY = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for ever; publishing does not:
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 0}  # a broker that hangs costs 2 s, with one retry 6 s
CELERY_RESULT_BACKEND = None  # one would make a dead broker slow: 19 s for delay() instead of under 1 s
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_DB_REUSE_MAX = sys.maxsize  # tasks: the connection stays, see knowlex.celery
CELERY_IMPORTS = ["embeddings.sweeper"]  # a worker's; elsewhere nothing would start it
CELERY_WORKER_POOL = "knowlex.celery_overrides:TaskPool"
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = True
CELERY_TASK_DEFAULT_QUEUE = "knowlex"
# Every worker takes from all in turn, so that early documents are embedded while later ones are read.
INGEST_QUEUE, EVALUATION_QUEUE, JUDGING_QUEUE = "knowlex.ingest", "knowlex.evaluation", "knowlex.judging"
SHIPPING_QUEUE, SYNC_QUEUE, WEBHOOK_QUEUE = "knowlex.shipping", "knowlex.sync", "knowlex.webhooks"
CELERY_TASK_QUEUES = [
    Queue(CELERY_TASK_DEFAULT_QUEUE),
    Queue(INGEST_QUEUE, routing_key=INGEST_QUEUE),
    Queue(EVALUATION_QUEUE, routing_key=EVALUATION_QUEUE),
    Queue(JUDGING_QUEUE, routing_key=JUDGING_QUEUE),
    Queue(SHIPPING_QUEUE, routing_key=SHIPPING_QUEUE),
    Queue(WEBHOOK_QUEUE, routing_key=WEBHOOK_QUEUE),
    Queue(SYNC_QUEUE, routing_key=SYNC_QUEUE),
]
CELERY_TASK_ROUTES = {
    "embeddings.ingest_next": {"queue": INGEST_QUEUE},
    "embeddings.ship_next": {"queue": SHIPPING_QUEUE},
    "embeddings.sync_next": {"queue": SYNC_QUEUE},
    "rag.evaluate_next": {"queue": EVALUATION_QUEUE},
    "rag.judge_answers": {"queue": JUDGING_QUEUE},
    "rag.deliver_webhook": {"queue": WEBHOOK_QUEUE},
}
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_REDIRECT_STDOUTS = False
LOG_LEVEL = ENV.log_level
LOGGING = logging_settings(LOG_LEVEL)
