"""Every statement on the index says which generation, scope and history it means."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory import wiring
from memory.engine import Engine
from memory.landing.mover import step
from memory.search.ddl import PARTITIONED
from memory.search.episodes import EpisodeFilters
from memory.services import indexing, ledger
from memory.services.episodes import (
    amend_acl,
    forget,
    get_episode,
    ingest,
    list_episodes,
    remember,
)
from memory.services.search import PassageQuery, find_passages
from tests.builders import NOON, episode, note, reader

_TABLE: Final = re.compile(rf"\b(?:{'|'.join(PARTITIONED)})(?:_g\d+)?\b(?=\s|$)")
_OWN_PARTITION: Final = re.compile(rf"\b(?:{'|'.join(PARTITIONED)})_g\d+\b")
_SCOPED: Final = frozenset(PARTITIONED) - {"acl_sets"}
_WITH_HISTORY: Final = frozenset({"episode_rows", "passages", "vectors", "vectors_tail", "gone"})

_WITHOUT_SCOPE: Final = {
    r"FROM ampup_index\.commits WHERE generation = .* AND seq": "the mirror of the one ledger",
    r"count\(\*\) FROM ampup_index\.vectors_tail": "how long the tail is, over all scopes",
    r"^COPY ": "rows name their scope themselves",
}
_WITHOUT_HISTORY: Final = {
    r"rid = (%\(rid\)s|ANY\(%\(rids\)s\))": "rows already found by their history",
    r"DISTINCT body_sha256": "bodies are kept once, whatever branch holds them",
    r"count\(\*\) FROM ampup_index\.vectors_tail": "how long the tail is, over all scopes",
    r"^COPY ": "rows name their place themselves",
}

EXCUSES: Final[Mapping[str, Mapping[str, str]]] = {
    "generation": {},
    "scope": _WITHOUT_SCOPE,
    "history": _WITHOUT_HISTORY,
}


@dataclass
class Said:
    """The statements on index tables, as they were sent."""

    statements: list[str] = field(default_factory=list)

    def take(self, query: object) -> None:
        text = query.decode() if isinstance(query, bytes) else str(query)
        flat = " ".join(text.split())
        if "ampup_index" in flat and _TABLE.search(flat):
            self.statements.append(flat)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    """Listen to every statement of this process."""
    said = Said()

    def listening(method: Callable[..., Any]) -> Callable[..., Any]:
        def listen(self: psycopg.Cursor, query: Any, *args: Any, **options: Any) -> Any:
            said.take(query)
            return method(self, query, *args, **options)

        return listen

    for name in ("execute", "executemany", "copy", "stream"):
        monkeypatch.setattr(psycopg.Cursor, name, listening(getattr(psycopg.Cursor, name)))
    return said


def _everything(engine: Engine, owner: Caller, org: Scope) -> None:
    """Ask for whatever callers can ask for, as one who sees all and as one who does not."""
    bob = reader("bob", "sales")
    kept = remember(engine, owner, org, note()).wait()
    remember(engine, owner, org, note()).wait()
    ingest(engine, owner, org, [episode(f"Renewal {n}.") for n in range(3)]).wait()
    amend_acl(engine, owner, org, kept.episode_id, acl=["group:sales"], expected=["*"]).wait()
    filters = EpisodeFilters(
        episode_type="doc",
        source_prefix="mcp:",
        tags=(),
        about=None,
        occurred_from=NOON,
        occurred_to=NOON,
    )
    for caller in (owner, bob):
        get_episode(engine, caller, org, kept.episode_id)
        page = list_episodes(engine, caller, org, EpisodeFilters(), k=1)
        list_episodes(engine, caller, org, filters, cursor=page.next_cursor)
        for order in ("relevance", "newest", "oldest"):
            find_passages(engine, caller, org, PassageQuery("renewal", order=order))
        find_passages(engine, caller, org, PassageQuery("renewal", filters=filters))
        indexing.status(engine, caller, org)
    ledger.log(engine, owner, org)
    forget(engine, owner, org, kept.episode_id).wait()
    forget(engine, owner, org, kept.episode_id).wait()


def _tables(statement: str) -> set[str]:
    return {re.sub(r"_g\d+$", "", name) for name in _TABLE.findall(statement)}


def _missing(statement: str) -> Iterator[str]:
    """Yield what a statement does not name."""
    tables = _tables(statement)
    if not _OWN_PARTITION.search(statement) and "generation = " not in statement:
        yield "generation"
    if tables & _SCOPED and "scope_id = " not in statement and "(scope_id" not in statement:
        yield "scope"
    if tables & _WITH_HISTORY and "branch_id = " not in statement:
        yield "history"


def _excused(statement: str, excuses: Mapping[str, str], used: set[str]) -> bool:
    found = {pattern for pattern in excuses if re.search(pattern, statement)}
    used |= found
    return bool(found)


def test_what_callers_ask_names_generation_scope_and_history_in_every_statement(
    engine: Engine, owner: Caller, org: Scope, said: Said
) -> None:
    """Documented: style, section 2, and architecture, section 6."""
    _everything(engine, owner, org)
    assert len(set(said.statements)) > 15
    used: set[str] = set()
    faults = {
        (missing, statement)
        for statement in said.statements
        for missing in _missing(statement)
        if not _excused(statement, EXCUSES[missing], used)
    }
    assert faults == set()
    assert used == {pattern for patterns in EXCUSES.values() for pattern in patterns}


def test_what_keeps_the_index_names_the_generation_in_every_statement(
    engine: Engine, owner: Caller, org: Scope, said: Said
) -> None:
    """Ours: a rebuild, a comparison and the mover never touch another generation by accident."""
    _everything(engine, owner, org)
    said.statements.clear()
    indexing.rebuild(engine)
    indexing.verify(engine)
    with engine.index.connect(application="mover") as connection:
        step(connection, clock=engine.clock)
    wiring.close_engine()
    wiring.engine()
    nameless = {
        statement
        for statement in said.statements
        if not _OWN_PARTITION.search(statement)
        and "generation = " not in statement
        and not statement.startswith(("CREATE EXTENSION", "ALTER TABLE", "CREATE TABLE"))
    }
    assert nameless == set()
