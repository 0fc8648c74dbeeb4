"""What dies and where, what must hold afterwards, and how it goes on: one shape for all deaths.

Every death of a test is died on one store, so a later one meets all that the earlier ones left.
"""

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.landing.mover import step
from memory.search.folding import FOLD_PASSAGES
from memory.search.heads import live_head
from memory.search.vectors import PassageVector, add_vectors
from memory.services.episodes import ingest
from memory.services.indexing import rebuild
from memory.services.search import PassageHit, PassageQuery, find_passages
from memory.tables.compaction import compact
from tests.builders import episode
from tests.crash.conftest import Child

Run = Callable[..., Child]
Promises = Callable[[list[tuple[str, str]]], int]

EPISODES = ("org_default", "episodes")


@dataclass(frozen=True)
class Stores:
    """The stores of one test, a way to run a child on them, and the check of every promise."""

    engine: Engine
    owner: Caller
    org: Scope
    run: Run
    promises: Promises


class Death(ABC):
    """One kind of work that is killed again and again on the same stores.

    `points` says for each named point at which of the times it is reached the child may die; the
    rounds take them in turn, so that no round asks for one that is never reached. `live` is how
    many episodes there must be.
    """

    points: ClassVar[Mapping[str, tuple[int, ...]]]
    action: ClassVar[str]
    times: ClassVar[int] = 1
    name: ClassVar[str] = "child"

    def __init__(self, stores: Stores, point: str) -> None:
        self.stores = stores
        self.point = point
        self.live = 0

    def die(self, rounds: int) -> None:
        """Die as often, checking what must hold after each death and after going on."""
        for round_ in range(rounds):
            self.make_ready()
            places = self.points[self.point]
            failpoint = f"{self.point}@{places[round_ % len(places)]}=kill"
            child = f"{self.name}{round_}x"
            dead = self.stores.run(self.action, self.times, failpoint=failpoint, CHILD=child)
            assert dead.returncode == -signal.SIGKILL, (failpoint, round_, dead)
            self.check(dead)
            self.go_on(child)

    @abstractmethod
    def make_ready(self) -> None:
        """Bring about that the child reaches the point, in every round."""

    def check(self, dead: Child) -> None:
        """Check what must hold after the death."""
        assert dead.acked() == []
        self.keep_promises()

    @abstractmethod
    def go_on(self, child: str) -> None:
        """Do what a server that starts anew does, and check that all is well."""

    def keep_promises(self) -> None:
        """Check what must hold always."""
        assert self.stores.promises([]) == self.live

    def land(self, landings: int, *, each: int = 1) -> None:
        """Land notes that are not there yet."""
        for _ in range(landings):
            numbers = range(self.live, self.live + each)
            drafts = [episode(f"note number {n} says so", source=f"note:{n}") for n in numbers]
            ingest(self.stores.engine, self.stores.owner, self.stores.org, drafts).wait()
            self.live += each


class Landing(Death):
    """A landing is whole or not at all, and what it acknowledged stays."""

    # Never the first landing: something acknowledged must be there to be lost.
    points: ClassVar[Mapping[str, tuple[int, ...]]] = dict.fromkeys(
        (
            "landing.encoded",
            "landing.locked",
            "tables.staged",
            "tables.fsynced",
            "landing.staged",
            "landing.swapped",
            "landing.copied",
            "landing.before_commit",
            "landing.committed",
        ),
        (2, 3),
    )
    action = "write"
    times = 4

    @override
    def make_ready(self) -> None:
        """Nothing to do: the child's own landings lead to the point."""

    @override
    def check(self, dead: Child) -> None:
        self._acked = dead.acked()
        self._landed = len(self._acked) + (self.point == "landing.committed")
        assert self.stores.promises(self._acked) == self.live + self._landed

    @override
    def go_on(self, child: str) -> None:
        again = self.stores.run(self.action, self.times, CHILD=child)
        assert again.returncode == 0, again.errors
        created = [line.split()[3] for line in again.lines if line.startswith("acked")]
        missing = self.times - self._landed
        assert created == ["False"] * self._landed + ["True"] * missing
        assert again.acked()[: len(self._acked)] == self._acked
        self.live += self.times
        assert self.stores.promises(again.acked()) == self.live


class LongLanding(Landing):
    """The same of a landing with a body that is too long for its table."""

    points: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "landing.copied": (2,),
        "landing.committed": (2,),
        "blob.written": (1,),
    }
    times = 2
    name = "long"


class Rebuild(Death):
    """A rebuild's generation is live and whole, or the one before it is."""

    points = dict.fromkeys(
        ("rebuild.opened", "apply.chunk", "rebuild.filled", "rebuild.indexed", "rebuild.flipped"),
        (1,),
    )
    action = "rebuild"

    @override
    def make_ready(self) -> None:
        if not self.live:
            self.land(3, each=100)
        self._before = self._find()

    @override
    def check(self, dead: Child) -> None:
        super().check(dead)
        assert self._find() == self._before

    @override
    def go_on(self, child: str) -> None:
        rebuild(self.stores.engine)
        self.keep_promises()
        assert self._find() == self._before

    def _find(self) -> tuple[PassageHit, ...]:
        stores = self.stores
        return find_passages(stores.engine, stores.owner, stores.org, PassageQuery("number 42"))


class Compaction(Death):
    """A compaction loses no row and doubles none."""

    points = dict.fromkeys(
        ("compaction.rewritten", "compaction.swapped", "compaction.committed"), (1,)
    )
    action = "compact"

    @override
    def make_ready(self) -> None:
        # Twice what the child takes for enough, next to each other and of the smallest class.
        self.land(8)

    @override
    def go_on(self, child: str) -> None:
        compact(self.stores.engine.warehouse, EPISODES, min_files=2)
        self.keep_promises()


class Expiry(Death):
    """A removal takes only files that no kept version reaches."""

    # A child looks at two tables. Each landing and compaction puts a metadata file out of reach,
    # so with those of `make_ready` there are never fewer to delete than this.
    points: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "expiry.planned": (1, 2),
        "expiry.deleting": (1, 2, 3, 5, 8),
    }
    action = "expire"

    @override
    def make_ready(self) -> None:
        # The first files go out of reach only once the table's log of versions is full.
        self.land(8 if self.live else 25)
        assert compact(self.stores.engine.warehouse, EPISODES, min_files=2)

    @override
    def go_on(self, child: str) -> None:
        rebuild(self.stores.engine)
        self.keep_promises()
        again = self.stores.run(self.action, self.times)
        assert again.returncode == 0, again.errors
        self.keep_promises()


class Moving(Death):
    """A vector is in the tail or under HNSW, and a passage is found by its text all the time."""

    points = dict.fromkeys(("mover.folded", "mover.moved"), (1,))
    action = "move"
    times = 3
    _VECTORS = 300

    def __init__(self, stores: Stores, point: str) -> None:
        super().__init__(stores, point)
        self._vectors = 0

    @override
    def make_ready(self) -> None:
        # More than may wait before the text index is folded.
        self.land(FOLD_PASSAGES // 100 + 1, each=100)
        with self.stores.engine.index.connect(application="test") as connection:
            cursor = connection.cursor()
            generation = live_head(cursor).generation
            newest = cursor.execute(
                "SELECT scope_id, rid FROM ampup_index.passages"
                " WHERE generation = %s AND n = 1 ORDER BY rid DESC LIMIT %s",
                (generation, self._VECTORS),
            ).fetchall()
            vectors = [
                PassageVector(rid=rid, n=1, embedder="drawn", part=0, values=(0.1, n / 300, 1.0))
                for n, (_, rid) in enumerate(newest)
            ]
            self._vectors += add_vectors(
                cursor, generation=generation, scope_id=newest[0][0], vectors=vectors
            )

    @override
    def check(self, dead: Child) -> None:
        super().check(dead)
        assert sum(self._places()) == self._vectors

    @override
    def go_on(self, child: str) -> None:
        with self.stores.engine.index.connect(application="test") as connection:
            while step(connection, clock=self.stores.engine.clock):
                pass
        assert self._places() == (0, self._vectors)
        self.keep_promises()

    def _places(self) -> tuple[int, int]:
        """Return how many vectors are in the tail, and how many under HNSW."""
        with self.stores.engine.index.connect(application="test") as connection:
            found = connection.execute(
                "SELECT (SELECT count(*) FROM ampup_index.vectors_tail),"
                " (SELECT count(*) FROM ampup_index.vectors)"
            ).fetchone()
        assert found is not None
        return found[0], found[1]
