"""write_scopes: as many scopes as clients, against the same clients in one scope."""

from statistics import median
from typing import Final

from bench.corpus import NOTE_BYTES, TextSource
from bench.notes import fresh_scope, wide_scope
from bench.posting import Batch, batches, post_all
from bench.report import Result, at_least
from bench.server import serving
from bench.store import Store
from bench.write_group import BATCH, CLIENTS

_ROUNDS: Final = 5


def run(store: Store) -> list[Result]:
    """Take turns: everybody in one scope, then everybody in their own; the first turn warms up."""
    one: list[float] = []
    many: list[float] = []
    source = TextSource(stream=11)
    share = BATCH * (1 if store.small else 4)
    single = [fresh_scope("group").spelling] * CLIENTS
    own = [wide_scope(place).spelling for place in range(CLIENTS)]
    log = store.folder / "server.log"
    with serving(dsn=store.dsn, data_dir=store.data_dir, log=log) as server:
        for turn in range(_ROUNDS + 1):
            for scopes, rates in ((single, one), (own, many)):
                clients = [
                    _line(source.texts(share, NOTE_BYTES), scope, f"scopes/{turn}/{client}")
                    for client, scope in enumerate(scopes)
                ]
                rates.append(CLIENTS * share / post_all(server, clients))
    return [Result("write_scopes", median(many[1:]), "notes/s", median(one[1:]), at_least(0.5))]


def _line(texts: list[str], scope: str, prefix: str) -> list[Batch]:
    return batches(texts, size=BATCH, scope=scope, prefix=prefix)
