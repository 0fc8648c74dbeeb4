"""Readers of environment variables."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ampup_site.settings import env, places
from ampup_site.settings.env import BadSetting, DailyWindow


def test_values_are_read_and_defaults_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a blank variable is an unset one."""
    monkeypatch.setenv("AMPUP_MEMORY_X", " 7 ")
    monkeypatch.setenv("AMPUP_MEMORY_BLANK", " ")
    monkeypatch.setenv("AMPUP_MEMORY_OFF", "off")
    monkeypatch.setenv("AMPUP_MEMORY_NIGHT", "23:30-01:15")
    monkeypatch.setenv("AMPUP_MEMORY_LIST", "a, b,,c")
    assert env.whole("X", default=1, low=1, high=9) == 7
    assert env.whole("BLANK", default=3, low=1, high=9) == 3
    assert env.flag("OFF", default=True) is False
    assert env.seconds("OFF", default=5) is None
    assert env.window("NIGHT", default="02:00-04:00") == DailyWindow(start=1410, end=75)
    assert env.names("LIST") == ("a", "b", "c")


@pytest.mark.parametrize(
    "read",
    [
        lambda: env.whole("X", default=1, low=1, high=9),
        lambda: env.flag("X", default=True),
        lambda: env.seconds("X", default=1),
        lambda: env.window("X", default="02:00-04:00"),
    ],
)
@pytest.mark.parametrize("value", ["10.5", "maybe", "-3", "25:00-26:00", "\u0661"])
def test_a_bad_value_stops_the_start_and_names_its_variable(
    read: Callable[[], object], value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: a bad value stops the start."""
    monkeypatch.setenv("AMPUP_MEMORY_X", value)
    with pytest.raises(BadSetting) as refused:
        read()
    assert refused.value.field == "AMPUP_MEMORY_X"


def test_an_old_name_is_read_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documented: old MEMSTORE_* names are read as fallbacks with a warning."""
    monkeypatch.setenv("MEMSTORE_X", "old")
    with pytest.warns(FutureWarning, match="AMPUP_MEMORY_X"):
        assert env.text("X", "new") == "old"
    monkeypatch.setenv("AMPUP_MEMORY_X", "newest")
    assert env.text("X", "new") == "newest"


@pytest.mark.parametrize(
    "dsn", ["host=here dbname=x", "mysql://a@b/c", "postgresql://a@b/c?nope=1"]
)
def test_what_is_no_postgres_url_is_refused(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documented: AMPUP_MEMORY_DATABASE_URL is a URL of a Postgres."""
    monkeypatch.setenv("AMPUP_MEMORY_DATABASE_URL", dsn)
    with pytest.raises(BadSetting) as refused:
        places.database_dsn(Path("/nowhere"))
    assert refused.value.field == "AMPUP_MEMORY_DATABASE_URL"


def test_a_url_becomes_djangos_entry_and_another_database() -> None:
    """Ours: what stands in the URL reaches the driver, and our session settings with it."""
    dsn = "postgresql://me:pw@db.example:5433/mine?sslmode=require"
    entry = places.django_database(dsn, pool_size=5)
    assert (entry["HOST"], entry["PORT"], entry["NAME"]) == ("db.example", "5433", "mine")
    assert entry["OPTIONS"]["sslmode"] == "require"
    assert "plan_cache_mode=force_custom_plan" in entry["OPTIONS"]["options"]
    other = places.with_database("postgresql://me@/mine?host=/a/b", "other")
    assert other == "postgresql://me@/other?host=/a/b"


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a restart signs as before."""
    monkeypatch.delenv("AMPUP_MEMORY_SECRET_KEY")
    data = tmp_path / "data"
    key = places.secret_key(data)
    assert len(key) > 50
    assert places.secret_key(data) == key
    assert (data / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in data.iterdir()] == ["secret_key"]
