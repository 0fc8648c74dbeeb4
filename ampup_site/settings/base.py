"""Every setting, with its unit and default; environment variables start with `AMPUP_MEMORY_`."""

import os

from ampup_site.settings import embedders, env, places

# Places
AMPUP_DATA_DIR = places.data_dir()
AMPUP_WAREHOUSE = env.folder("WAREHOUSE", default=AMPUP_DATA_DIR / "warehouse")
AMPUP_DATABASE_DSN = places.database_dsn(AMPUP_DATA_DIR)

# Who is served
AMPUP_DEFAULT_ORG = env.text("DEFAULT_ORG", "default")
AMPUP_LOCAL = env.flag("LOCAL", default=False)
"""Set by `serve --local`: loopback only, the Host header checked, no key means the owner."""

# Limits and sizes
AMPUP_THREADS = env.whole("THREADS", default=16, low=1, high=256)
"""Threads that run services for the edges; the database pool has two connections more."""

AMPUP_MAX_BODY_BYTES = env.whole("MAX_BODY_BYTES", default=17 * 2**20, low=2**10, high=2**30)
"""Bytes of one request: a full batch of 16 MiB and its envelope."""

AMPUP_MAX_JSON_DEPTH = 32
"""Nested arrays and objects in a request's body."""

# Meaning
AMPUP_EMBEDDER = embedders.embedder()
"""`local`, None, or where an OpenAI-compatible API is."""

# Background work
AMPUP_MAINTAIN_WINDOW = env.window("MAINTAIN_WINDOW", default="02:00-04:00")
AMPUP_SWEEP_SECS = env.seconds("SESSION_SWEEP_SECS", default=60)

# MCP
AMPUP_MCP_TOOLS = env.names("MCP_TOOLS")

# Django
SECRET_KEY = places.secret_key(AMPUP_DATA_DIR)
DEBUG = False
ALLOWED_HOSTS = list(env.names("ALLOWED_HOSTS", default=("127.0.0.1", "localhost", "[::1]")))
ROOT_URLCONF = "ampup_site.urls"
ASGI_APPLICATION = "ampup_site.asgi.application"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.Person"
STATIC_URL = "static/"
DATA_UPLOAD_MAX_MEMORY_SIZE = AMPUP_MAX_BODY_BYTES

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_celery_beat",
    "accounts",
    "memory",
    "ampup_site",
]
MIDDLEWARE: list[str] = []
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
DATABASES = {
    "default": places.django_database(AMPUP_DATABASE_DSN, pool_size=AMPUP_THREADS + 2),
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "ampup_site.http_errors.drf_exception_handler",
    "UNAUTHENTICATED_USER": None,
}

# Celery: without a broker's URL, web, worker and beat are one process.
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "memory://localhost/")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
    },
    # Each request has a line of `ampup_site.middleware`; of Django's own only tracebacks say more.
    "filters": {
        "tracebacks": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: record.exc_info is not None,
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO").upper()},
    "loggers": {
        "django.request": {"filters": ["tracebacks"]},
        "pyiceberg": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "django_celery_beat": {"level": "WARNING"},
        "uvicorn": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
    },
}
