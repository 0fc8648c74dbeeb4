"""Texts of the corpus as the product takes them: drafts, scopes and the one who writes."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from time import perf_counter
from typing import Final

from accounts.domain.caller import Caller, local_caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from memory.engine import Engine
from memory.services.episodes import remember
from memory.services.preparing import EpisodeDraft, NoteDraft

OCCURRED: Final = Micros(1_796_083_200_000_000)
EVERYONE: Final = (("*",),)
ORG: Final = "default"
WIDE_SCOPES: Final = 32
"""Scopes without passages, for writers that each have their own."""


def writer() -> Caller:
    """Return who writes in every bench: the owner of a local server."""
    return local_caller()


def corpus_scope(place: int) -> Scope:
    """Return the scope that holds the corpus's share of that place."""
    return Scope.team_scope(org=ORG, team=f"bench_{place:02d}")


def wide_scope(place: int) -> Scope:
    """Return one of the `WIDE_SCOPES`."""
    return Scope.team_scope(org=ORG, team=f"wide_{place:02d}")


def fresh_scope(name: str) -> Scope:
    """Return the scope a bench keeps to itself; `FRESH` lists those that exist."""
    assert name in FRESH
    return Scope.team_scope(org=ORG, team=f"fresh_{name}")


FRESH: Final = ("warm", "one", "group", "growth", "load", "batch", "busy")


def drafts(
    texts: Sequence[str], *, prefix: str, acls: Sequence[tuple[str, ...]] = EVERYONE
) -> Iterator[EpisodeDraft]:
    """Yield texts as episodes of type doc, with the ACLs in turn; sources are unlike all others."""
    entries = cycle(acls)
    for place, text in enumerate(texts):
        yield EpisodeDraft(
            source=f"note:{prefix}/{place}",
            body=text,
            occurred_at=Micros(OCCURRED + place),
            acl=next(entries),
        )


def note(text: str, *, prefix: str, place: int) -> NoteDraft:
    """Return a text as a note."""
    return NoteDraft(source=f"{prefix}/{place}", body=text)


def write_one(engine: Engine, scope: Scope, draft: NoteDraft) -> float:
    """Write a note by a service call; return the seconds until it was durable and visible."""
    began = perf_counter()
    remember(engine, writer(), scope, draft).wait()
    return perf_counter() - began
