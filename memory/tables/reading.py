"""Reads rows back from the files: by commit, whole tables, bodies by hash, the ledger in order."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from memory.domain.errors import DamagedTable
from memory.domain.records import (
    AclChangeRecord,
    BodyRecord,
    EpisodeRecord,
    FactRecord,
    LedgerRecord,
    SchemaRecord,
    ScopeRecord,
    TombstoneRecord,
)
from memory.tables.arrow import from_arrow
from memory.tables.avro import DataFile
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.encode import ScopePart
from memory.tables.files import local_path
from memory.tables.scan import (
    may_hold,
    read_columns,
    read_file,
    rows_by_key,
    rows_of_commits,
    seq_bounds,
)
from memory.tables.state import TableState
from memory.tables.warehouse import LEDGER_KEY, Warehouse

Pointers: TypeAlias = Mapping[TableKey, str]

T = TypeVar("T")
R = TypeVar("R", bound=ScopeRecord | LedgerRecord)

_TEXT_BYTES: Final = 64 * 2**20


def ledger_rows(
    warehouse: Warehouse,
    *,
    from_seq: int = 1,
    to_seq: int | None = None,
    pointers: Pointers | None = None,
) -> Iterator[LedgerRecord]:
    """Yield the ledger's rows in order of seq; the table is read as it is at the first row.

    Args:
        pointers: which version to read; None for the catalog's.
    """
    files = _states(warehouse, LEDGER_KEY[0], pointers)[LEDGER_KEY].files()
    for run in _runs_by_seq(files, from_seq=from_seq, to_seq=to_seq):
        rows = pa.concat_tables([read_file(file.path, LEDGER_KEY[1]) for file in run])
        seqs = rows.column("seq")
        wanted = pc.greater_equal(seqs, from_seq)
        if to_seq is not None:
            wanted = pc.and_(wanted, pc.less_equal(seqs, to_seq))
        yield from from_arrow(LedgerRecord, rows.filter(wanted).sort_by("seq"))


def batch_ids(warehouse: Warehouse, pointers: Pointers) -> list[str]:
    """Return the landing that each of the ledger's commits came in, in order of seq from 1.

    Raises:
        DamagedTable: a seq is missing or stands twice.
    """
    files = warehouse.state(LEDGER_KEY, pointers).files()
    if not files:
        return []
    columns = ["seq", "batch_id"]
    rows = pa.concat_tables([read_columns(local_path(file.path), columns) for file in files])
    rows = rows.sort_by("seq")
    if rows.column("seq").to_pylist() != list(range(1, rows.num_rows + 1)):
        message = "The ledger's files do not hold each commit once; restore the warehouse."
        raise DamagedTable(message)
    batches: list[str] = rows.column("batch_id").to_pylist()
    return batches


def read_part(
    warehouse: Warehouse,
    namespace: str,
    commit_ids: Collection[str],
    *,
    pointers: Pointers | None = None,
) -> ScopePart:
    """Return a scope's rows of these commits; of bodies, those the commits wrote.

    Args:
        pointers: which versions to read; None for the catalog's.
    """
    states = _states(warehouse, namespace, pointers)

    def rows(record: type[R], table: str) -> tuple[R, ...]:
        files = states[(namespace, table)].files()
        found = rows_of_commits(files, table, commit_ids)
        return tuple(chain.from_iterable(from_arrow(record, part) for part in found))

    return ScopePart(
        namespace=namespace,
        episodes=rows(EpisodeRecord, "episodes"),
        bodies=rows(BodyRecord, "bodies"),
        facts=rows(FactRecord, "facts"),
        tombstones=rows(TombstoneRecord, "tombstones"),
        schemas=rows(SchemaRecord, "schemas"),
        acl_changes=rows(AclChangeRecord, "acl_changes"),
    )


def tombstones(warehouse: Warehouse, namespace: str) -> Iterator[TombstoneRecord]:
    """Yield all of a scope's tombstones, landed or not."""
    return _all_rows(warehouse, TombstoneRecord, namespace, "tombstones")


def acl_changes(warehouse: Warehouse, namespace: str) -> Iterator[AclChangeRecord]:
    """Yield all of a scope's amendments, landed or not."""
    return _all_rows(warehouse, AclChangeRecord, namespace, "acl_changes")


def bodies(
    warehouse: Warehouse,
    namespace: str,
    sha256s: Collection[str],
    *,
    near: Collection[str] = (),
) -> dict[str, str]:
    """Return the texts of these bodies, from rows or blobs.

    Args:
        near: commits that most likely wrote them; files that may hold rows of those are read
            first, then the others from the newest, and only until all are found.
    """
    wanted = set(sha256s)
    texts: dict[str, str] = {}
    if not wanted:
        return texts
    columns = ["sha256", "body", "blob"]
    key = (namespace, "bodies")
    for file in _nearest_first(_states(warehouse, namespace)[key].files(), near):
        for rows in rows_by_key(file, key="sha256", wanted=wanted, columns=columns):
            values = (rows.column(name).to_pylist() for name in columns)
            for sha256, body, blob in zip(*values, strict=True):
                texts[sha256] = (
                    body if blob is None else warehouse.files.read_blob(blob, sha256=sha256)
                )
        wanted -= texts.keys()
        if not wanted:
            break
    return texts


def texts(warehouse: Warehouse, namespace: str, records: Sequence[EpisodeRecord]) -> dict[str, str]:
    """Return the texts of episodes' bodies, by hash.

    Raises:
        DamagedTable: a body is not there that an episode has.
    """
    wanted = {record.body_sha256 for record in records}
    near = {record.commit_id for record in records}
    found = bodies(warehouse, namespace, wanted, near=near)
    if missing := wanted - found.keys():
        message = (
            f"{len(missing)} bodies of {namespace} are not in its tables, the first of them"
            f" {min(missing)}; restore the warehouse."
        )
        raise DamagedTable(message)
    return found


def in_parts(items: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Part what carries texts into runs of at most 64 MB; an item is never parted.

    Args:
        size: the bytes an item carries.
    """
    part: list[T] = []
    held = 0
    for item in items:
        if part and held + size(item) > _TEXT_BYTES:
            yield part
            part, held = [], 0
        part.append(item)
        held += size(item)
    if part:
        yield part


def _all_rows(warehouse: Warehouse, record: type[R], namespace: str, table: str) -> Iterator[R]:
    for file in _states(warehouse, namespace)[(namespace, table)].files():
        yield from from_arrow(record, read_file(file.path, table))


def _nearest_first(files: list[DataFile], near: Collection[str]) -> list[DataFile]:
    ordered = sorted(near)
    newest_first = list(reversed(files))
    newest_first.sort(key=lambda file: not may_hold(file, "bodies", ordered))
    return newest_first


def _runs_by_seq(
    files: list[DataFile], *, from_seq: int, to_seq: int | None
) -> Iterator[list[DataFile]]:
    """Yield the ledger's files in order of seq; files that overlap come together."""
    bounded = []
    for file in files:
        low, high = seq_bounds(file) or (1, 2**62)
        if high >= from_seq and (to_seq is None or low <= to_seq):
            bounded.append((low, high, file))
    bounded.sort(key=lambda held: held[:2])
    run: list[DataFile] = []
    reached = 0
    for low, high, file in bounded:
        if run and low > reached:
            yield run
            run = []
        run.append(file)
        reached = max(reached, high)
    if run:
        yield run


def _states(
    warehouse: Warehouse, namespace: str, pointers: Pointers | None = None
) -> Mapping[TableKey, TableState]:
    """Return the tables of a namespace, all as they are at one moment."""
    if pointers is None:
        with warehouse.connected() as connection:
            pointers = read_pointers(connection, [namespace])
    return warehouse.states(namespace, pointers)
