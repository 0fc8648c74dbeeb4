"""load_rows: rows a second into Iceberg as a load writes them, against raw Parquet writing.

The index is left out: what is timed is encoding, staging, flushing, the swap of the pointers
and the commit, chunk by chunk.  The baseline gets its rows as Arrow already.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from time import perf_counter

import psycopg

from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.ids import BATCH, COMMIT
from bench.baselines import parquet_rate
from bench.corpus import PASSAGE_BYTES, TextSource, draw_acls
from bench.engines import running_engine
from bench.notes import drafts, fresh_scope, writer
from bench.report import Result, at_least
from bench.store import Store
from memory.domain.change import AddEpisodes, PreparedEpisode, Write
from memory.domain.ids import CommitId
from memory.domain.landing import Plan, plan_landing
from memory.domain.lineage import MAIN, Seq
from memory.domain.records import CommitKind, LedgerRecord
from memory.engine import Engine
from memory.landing.encoding import EncodedBatch, encode_batch
from memory.landing.transaction import commit_rows
from memory.search.heads import advance, live_head
from memory.services.preparing import prepare_episodes
from memory.tables.arrow import to_arrow
from memory.tables.encode import ScopePart

_CHUNK = 500
_ATOMIC = 5_000
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class _Rate:
    rows: float
    with_records: float


def run(store: Store) -> list[Result]:
    """Take turns: the same rows written raw, by chunks of a load, and by atomic loads."""
    count = 2_000 if store.small else 20_000
    raw: list[float] = []
    chunked: list[_Rate] = []
    atomic: list[_Rate] = []
    with running_engine() as engine:
        for turn in range(_ROUNDS):
            for size, rates in ((_CHUNK, chunked), (min(_ATOMIC, count), atomic)):
                plans = list(_plans(engine, fresh_scope("load"), count, size, f"{turn}/{size}"))
                raw.append(_raw_rate(store, plans, count))
                rates.append(_land(engine, plans, count))
    baseline = median(raw)
    return [
        Result(
            "load_rows", median(rate.rows for rate in chunked), "rows/s", baseline, at_least(0.6)
        ),
        Result("load_rows.atomic", median(rate.rows for rate in atomic), "rows/s", baseline),
        Result(
            "load_rows.with_records",
            median(rate.with_records for rate in chunked),
            "rows/s",
            baseline,
        ),
    ]


def _plans(engine: Engine, scope: Scope, count: int, size: int, prefix: str) -> Iterator[Plan]:
    """Yield the plan of each chunk of a load of new passages."""
    texts = TextSource(stream=4).texts(count, PASSAGE_BYTES)
    episodes = iter(drafts(texts, prefix=f"rows/{prefix}", acls=draw_acls(100)))
    while chunk := list(islice(episodes, size)):
        prepared: list[PreparedEpisode] = []
        for start in range(0, len(chunk), _CHUNK):
            prepared += prepare_episodes(
                engine,
                writer(),
                scope,
                chunk[start : start + _CHUNK],
                id_of="source_body",
                unclaimed=None,
            )
        write = Write(
            commit_id=CommitId(engine.ids.mint(COMMIT)),
            namespace=scope.namespace,
            branch_id=MAIN,
            kind=CommitKind.LOAD,
            author=writer().author,
            change=AddEpisodes(tuple(prepared)),
        )
        yield plan_landing([write], {})


def _raw_rate(store: Store, plans: list[Plan], count: int) -> float:
    """Write all rows of the plans as one file a table."""
    rows = _Collected()
    for plan in plans:
        encode_batch(rows, plan, present_bodies={}, map_parts=map)  # type: ignore[arg-type]
    tables = [
        to_arrow("episodes", [row for part in rows.parts for row in part.episodes]),
        to_arrow("bodies", [row for part in rows.parts for row in part.bodies]),
    ]
    return parquet_rate(tables, store.scratch / "raw", rows=count)


class _Collected:
    """Stands where a warehouse does, and keeps the rows instead of writing them."""

    def __init__(self) -> None:
        self.parts: list[ScopePart] = []

    def encode(self, part: ScopePart) -> ScopePart:
        self.parts.append(part)
        return part


def _land(engine: Engine, plans: list[Plan], count: int) -> _Rate:
    """Write the plans' rows as landings do; the index learns nothing of them but the head."""
    records = rows = 0.0
    with engine.index.connect(application="bench") as connection:
        for plan in plans:
            began = perf_counter()
            collected = _Collected()
            batch = encode_batch(collected, plan, present_bodies={}, map_parts=map)  # type: ignore[arg-type]
            made = perf_counter()
            parts = tuple(engine.warehouse.encode(part) for part in collected.parts)
            _swap(engine, connection, plan, replace(batch, parts=parts))
            records += made - began
            rows += perf_counter() - made
    return _Rate(count / rows, count / (rows + records))


def _swap(
    engine: Engine, connection: psycopg.Connection, plan: Plan, encoded: EncodedBatch
) -> None:
    with connection.transaction(), connection.cursor(binary=True) as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (engine.warehouse.lock_key,))
        head = live_head(cursor)
        batch_id = engine.ids.mint(BATCH)
        commits = commit_rows(head, plan, encoded, batch_id=batch_id, now=engine.clock.now())
        ledger: list[LedgerRecord] = [commit.ledger for commit in commits]
        staged = engine.warehouse.stage(connection, encoded.parts, ledger, batch_id=batch_id)
        engine.warehouse.swap(connection, staged)
        advance(
            cursor,
            head,
            seq=Seq(ledger[-1].seq),
            chain_hash=commits[-1].chain_hash,
            committed_at=Micros(ledger[-1].committed_at),
            next_acl_set=head.next_acl_set,
        )
    engine.warehouse.adopt(staged)
