"""Lands a load's prepared chunks: some in flight, retried by state, halved to find a bad one."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Final

from ampup_site.kernel.errors import AmpUpError, ErrorKind
from ampup_site.kernel.ids import COMMIT
from memory.domain.change import AddEpisodes, Landed, PreparedEpisode, Write
from memory.domain.errors import LandingFailed
from memory.domain.ids import CommitId
from memory.domain.job import RefusedItem
from memory.domain.lineage import MAIN
from memory.domain.pending import Pending
from memory.domain.records import CommitKind
from memory.engine import Engine
from memory.search.heads import live_head
from memory.search.upkeep import TAIL_LIMIT, tail_length
from memory.services.load_chunks import CHUNK_PASSAGES, Intent, PreparedChunk

_IN_FLIGHT: Final = 4
"""Chunks that wait for their landing while more are prepared."""

_RETRIES_SECS: Final = (0.5, 2.0, 8.0)
"""Pauses before a chunk that met a busy or missing store is sent again."""

_TAIL_EVERY: Final = 8
_TAIL_PAUSE_SECS: Final = 0.5
_TAIL_PATIENCE: Final = 60
"""Each eighth chunk looks whether the mover keeps up, and waits for it at most 30 s."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did.

    Args:
        created: episodes that it made live.
        repeated: episodes that were there already.
        refused: what was left out, and why.
        commits: in the order they landed; those of repeats are the ones that made them so.
        acls_unchanged: repeats that named another ACL than the present one, which stays.
    """

    job: str
    created: int
    repeated: int
    refused: tuple[RefusedItem, ...]
    commits: tuple[str, ...]
    acls_unchanged: int = 0

    def plus(self, other: "LoadReport") -> "LoadReport":
        """Return both together, this one first."""
        fresh = tuple(commit for commit in other.commits if commit not in self.commits[-8:])
        return LoadReport(
            job=self.job,
            created=self.created + other.created,
            repeated=self.repeated + other.repeated,
            refused=self.refused + other.refused,
            commits=self.commits + fresh,
            acls_unchanged=self.acls_unchanged + other.acls_unchanged,
        )

    @property
    def done(self) -> int:
        """How many items it has dealt with."""
        return self.created + self.repeated + len(self.refused)


def land_chunks(
    engine: Engine, writer: "ChunkWriter", chunks: Iterator[PreparedChunk]
) -> Iterator[LoadReport]:
    """Land chunks in order, some in flight at once; yield what each did."""
    flying: deque[tuple[PreparedChunk, list[_Part]]] = deque()
    for number, chunk in enumerate(chunks, start=1):
        if number % _TAIL_EVERY == 0:
            _wait_for_tail(engine)
        flying.append((chunk, writer.send_chunk(chunk)))
        if len(flying) >= _IN_FLIGHT:
            yield writer.settle_chunk(*flying.popleft())
    while flying:
        yield writer.settle_chunk(*flying.popleft())


def _wait_for_tail(engine: Engine) -> None:
    """Let the mover catch up: searches scan the tail of vectors exactly."""
    for _ in range(_TAIL_PATIENCE):
        with engine.index.reading() as cursor:
            if tail_length(cursor, live_head(cursor)) <= TAIL_LIMIT:
                return
        Event().wait(_TAIL_PAUSE_SECS)


@dataclass(frozen=True, slots=True)
class _Part:
    """Episodes of a chunk that land as one commit."""

    places: tuple[str, ...]
    episodes: tuple[PreparedEpisode, ...]
    pending: Pending[Landed]


class ChunkWriter:
    """Sends prepared episodes to the committer and tells what became of them."""

    def __init__(self, engine: Engine, intent: Intent, job: str) -> None:
        self._engine = engine
        self._intent = intent
        self._job = job

    def nothing(self) -> LoadReport:
        """Return a report of nothing yet."""
        return LoadReport(self._job, 0, 0, (), ())

    def send(self, episodes: Sequence[PreparedEpisode]) -> Pending[Landed]:
        """Queue one commit."""
        write = Write(
            commit_id=CommitId(self._engine.ids.mint(COMMIT)),
            namespace=self._intent.scope.namespace,
            branch_id=MAIN,
            kind=CommitKind.LOAD,
            author=self._intent.caller.author,
            change=AddEpisodes(tuple(episodes)),
            job_id=self._job,
        )
        return Pending(self._engine.committer.submit(write), _itself)

    def send_chunk(self, chunk: PreparedChunk) -> list[_Part]:
        """Queue a chunk: one commit, or more where its passages are too many for one."""
        parts, start, size = [], 0, 0
        for end, episode in enumerate(chunk.episodes):
            if size and size + len(episode.passages) > CHUNK_PASSAGES:
                parts.append(self._part(chunk.places[start:end], chunk.episodes[start:end]))
                start, size = end, 0
            size += len(episode.passages)
        if start < len(chunk.episodes):
            parts.append(self._part(chunk.places[start:], chunk.episodes[start:]))
        return parts

    def settle_chunk(self, chunk: PreparedChunk, parts: Sequence[_Part]) -> LoadReport:
        """Wait until a chunk has landed."""
        report = self.report(None, chunk.refused)
        for part in parts:
            report = report.plus(self._settle(part))
        return report

    def report(self, landed: Landed | None, refused: tuple[RefusedItem, ...]) -> LoadReport:
        """Return what a landing did."""
        if landed is None:
            return LoadReport(self._job, 0, 0, refused, ())
        created = sum(landed.created)
        return LoadReport(
            job=self._job,
            created=created,
            repeated=len(landed.created) - created,
            refused=refused,
            commits=(landed.commit_id,),
            acls_unchanged=sum(landed.acl_unchanged),
        )

    def _part(self, places: tuple[str, ...], episodes: tuple[PreparedEpisode, ...]) -> _Part:
        return _Part(places, episodes, self.send(episodes))

    def _settle(self, part: _Part) -> LoadReport:
        for pause in (*_RETRIES_SECS, None):
            try:
                return self.report(part.pending.wait(), ())
            except LandingFailed as error:
                return self._halve(part, error)
            except AmpUpError as error:
                if error.kind is not ErrorKind.UNAVAILABLE:
                    return self._halve(part, error)
                if pause is None:
                    raise
            # Whether it landed may be unknown; if it did, this finds it there and says so.
            Event().wait(pause)
            part = self._part(part.places, part.episodes)
        raise AssertionError

    def _halve(self, part: _Part, error: AmpUpError) -> LoadReport:
        """Find the episode that the store cannot take: it alone is left out."""
        if len(part.episodes) == 1:
            return self.report(None, (RefusedItem(part.places[0], error.message),))
        half = len(part.episodes) // 2
        first = self._part(part.places[:half], part.episodes[:half])
        second = self._part(part.places[half:], part.episodes[half:])
        return self._settle(first).plus(self._settle(second))


def _itself(landed: Landed) -> Landed:
    return landed
