"""What the tests run under: no network, fixed secrets, a database of their own.

Without `AMPUP_MEMORY_DATABASE_URL` the address is that of a private server which
`tests/conftest.py` starts; `AMPUP_TEST_DB` names the database, so that runs can share a server.
"""

import os

os.environ.setdefault("AMPUP_MEMORY_SECRET_KEY", "only-for-the-tests-and-never-elsewhere")

from ampup_site.settings import places

# Never the folder that somebody serves from, whatever the environment says.
os.environ["AMPUP_MEMORY_DATA_DIR"] = os.environ.get(
    "AMPUP_TEST_DATA_DIR", str(places.CHECKOUT / ".cache" / "tests")
)

from ampup_site.settings.base import *  # noqa: F403 -- the tests change a few of all settings
from ampup_site.settings.base import AMPUP_DATABASE_DSN as _SERVER_DSN
from ampup_site.settings.base import AMPUP_THREADS, DATABASES, LOGGING

TEST_DATABASE = os.environ.get("AMPUP_TEST_DB", "test_ampup")
AMPUP_DATABASE_DSN = places.with_database(_SERVER_DSN, TEST_DATABASE)
AMPUP_LOCAL = False
AMPUP_EMBEDDER = None
CELERY_BROKER_URL = "memory://localhost/"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"] = {
    **places.django_database(_SERVER_DSN, pool_size=AMPUP_THREADS + 2),
    "TEST": {"NAME": TEST_DATABASE},
}
LOGGING["root"]["level"] = "WARNING"  # type: ignore[index]  # a dict of dicts
