"""A Postgres that the operator named."""

import pytest

from ampup_site.postgres.errors import DatabaseUnavailable, UnfitDatabase
from ampup_site.postgres.named import check_fit, check_named


@pytest.mark.parametrize(
    ("postgres", "pgvector"), [(14, "0.8.0"), (15, "0.7.4"), (15, None), (18, "0.5")]
)
def test_an_old_server_and_one_without_the_extension_are_refused(
    postgres: int, pgvector: str | None
) -> None:
    """Documented: any Postgres >= 15 with pgvector >= 0.8."""
    with pytest.raises(UnfitDatabase):
        check_fit(postgres=postgres, pgvector=pgvector)


def test_the_least_versions_are_taken() -> None:
    """Documented: the same, from the other side."""
    check_fit(postgres=15, pgvector="0.8.0")
    check_fit(postgres=19, pgvector="1.0.0")


def test_a_server_that_does_not_answer_names_the_variable() -> None:
    """Documented: a wrong DSN is a clear error."""
    with pytest.raises(DatabaseUnavailable) as refused:
        check_named("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2")
    assert refused.value.field == "AMPUP_MEMORY_DATABASE_URL"
