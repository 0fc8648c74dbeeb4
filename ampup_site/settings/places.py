"""Where things are: the data folder, the database's address, the secret key's file."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from ampup_site.postgres.layout import layout_of
from ampup_site.settings import env
from ampup_site.settings.env import BadSetting

CHECKOUT: Final = Path(__file__).resolve().parent.parent.parent


def data_dir() -> Path:
    """Return the data folder: beside the checkout, never the current folder."""
    return env.folder("DATA_DIR", default=CHECKOUT / ".ampup-memory")


def database_dsn(data: Path) -> str:
    """Return the libpq URL of the database: the named one, or the data folder's own server.

    Raises:
        BadSetting: what was named is no URL of a Postgres.
    """
    dsn = env.text("DATABASE_URL", layout_of(data).dsn())
    _parsed(dsn)
    return dsn


def with_database(dsn: str, name: str) -> str:
    """Return the same server's URL with another database."""
    parts = urlsplit(dsn)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key != "dbname"]
    return urlunsplit(parts._replace(path=f"/{quote(name)}", query=urlencode(kept, safe="/")))


def django_database(dsn: str, *, pool_size: int) -> dict[str, Any]:
    """Return Django's entry for a database, with psycopg's pool and our session settings."""
    parts = _parsed(dsn)
    settings = "-c jit=off -c plan_cache_mode=force_custom_plan"
    options = " ".join(filter(None, (parts.pop("options", ""), settings)))
    named = ("dbname", "user", "password", "host", "port")
    name, user, password, host, port = (str(parts.pop(key, "") or "") for key in named)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name or user,
        "USER": user,
        "PASSWORD": password,
        "HOST": host,
        "PORT": port,
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,  # the pool then drops what a restart of Postgres broke
        "OPTIONS": {
            "application_name": "ampup web",
            "connect_timeout": 10,
            **parts,
            "options": options,
            "pool": {"min_size": 1, "max_size": pool_size, "timeout": 10},
        },
    }


def secret_key(data: Path) -> str:
    """Return the key that Django signs with, made at the first start, readable by its owner alone.

    Raises:
        BadSetting: the data folder cannot be made or written.
    """
    named = env.text("SECRET_KEY", "")
    if named:
        return named
    file = data / "secret_key"
    try:
        return file.read_text().strip() or _made(file)
    except FileNotFoundError:
        return _made(file)
    except OSError as error:
        raise _unusable(data, error) from error


def _made(file: Path) -> str:
    fresh = file.with_name(f"secret_key.{secrets.token_hex(6)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # of two first starts one makes the key, both read it
            os.link(fresh, file)
        fresh.unlink()
        return file.read_text()
    except OSError as error:
        raise _unusable(file.parent, error) from error


def _unusable(data: Path, error: OSError) -> BadSetting:
    return BadSetting(
        f"The data folder {data} cannot be used ({error.strerror});"
        " name another by AMPUP_MEMORY_DATA_DIR.",
        field="AMPUP_MEMORY_DATA_DIR",
    )


def _parsed(dsn: str) -> dict[str, Any]:
    if dsn.startswith(("postgresql://", "postgres://")):
        try:
            return dict(conninfo_to_dict(dsn))
        except ProgrammingError:
            pass
    message = (
        "AMPUP_MEMORY_DATABASE_URL must be a URL such as postgresql://user@host/database;"
        " unset it for the embedded Postgres."
    )
    raise BadSetting(message, field="AMPUP_MEMORY_DATABASE_URL")
