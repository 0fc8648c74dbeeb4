"""The server's surfaces as one client sees them: verbs that return values or raise `Refused`."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from accounts.domain.caller import local_caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from mcp_gateway.asgi import McpApp
from memory.domain.acl import Acl
from memory.domain.limits import MAX_CHARS
from memory.domain.times import format_micros
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.services import episodes
from memory.services.preparing import NoteDraft
from memory.services.search import PassageQuery, find_passages
from tests.machine.model import Draft, Hit, Refused
from tests.mcp_gateway.wire import Wire
from tests.memory.api.rest import Rest


@dataclass(frozen=True)
class Note:
    """A note to be remembered; `source` is not signed yet."""

    source: str
    body: str
    occurred_at: int
    visibility: str | None = None


@dataclass(frozen=True)
class Shown:
    """An episode as it is read; the parts that a surface does not show are None."""

    source: str
    text: str
    acl: tuple[str, ...] | None


class Surface(Protocol):
    """What every surface can do."""

    def remember(self, note: Note) -> tuple[str, bool]: ...

    def get(self, identity: str) -> Shown: ...

    def search(self, text: str, *, k: int) -> list[Hit]: ...


class FullSurface(Surface, Protocol):
    """What REST and the commands can do as well."""

    def forget(self, identity: str) -> None: ...

    def amend(self, identity: str, *, acl: Acl, expected: Acl) -> None: ...

    def listed(self, *, k: int, newest_first: bool) -> list[str]: ...


@dataclass(frozen=True)
class RestSurface:
    """A key over REST."""

    key: str
    org: str = ""

    def remember(self, note: Note) -> tuple[str, bool]:
        answer = self._call("POST", "/remember", vars(note))
        return answer["episode_id"], answer["created"]

    def ingest(self, drafts: Sequence[Draft]) -> list[bool]:
        answer = self._call("POST", "/episodes", [vars(draft) for draft in drafts])
        assert [held["episode_id"] for held in answer["episodes"]] == [one.id for one in drafts]
        return [held["created"] for held in answer["episodes"]]

    def forget(self, identity: str) -> None:
        assert self._call("DELETE", f"/episodes/{identity}")["forgotten"]

    def amend(self, identity: str, *, acl: Acl, expected: Acl) -> None:
        wanted = {"acl": acl, "expected": expected}
        assert self._call("PUT", f"/episodes/{identity}/acl", wanted)["acl"] == list(acl)

    def get(self, identity: str) -> Shown:
        answer = self._call("GET", f"/episodes/{identity}")
        assert answer["body"] == "".join(unit["text"] for unit in answer["units"])
        acl = tuple(answer["acl"]) if "acl" in answer else None
        return Shown(answer["source"], answer["body"], acl)

    def search(self, text: str, *, k: int) -> list[Hit]:
        answer = self._call("POST", "/search", {"query": text, "k": k})
        shown = [held["episode_id"] for held in answer["episodes"]]
        assert shown == list(dict.fromkeys(hit["episode_id"] for hit in answer["passages"]))
        return hits(answer["passages"])

    def listed(self, *, k: int, newest_first: bool) -> list[str]:
        order, cursor = "newest" if newest_first else "oldest", None
        found: list[str] = []
        while True:
            page = self._call(
                "POST",
                "/query",
                {"find": "episodes", "k": k, "order": order, "cursor": cursor},
            )
            assert len(page["results"]) == k or page["next_cursor"] is None
            found += [held["episode_id"] for held in page["results"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        named = f"{path}?org={self.org}" if self.org else path
        status, answer = Rest(self.key).call(method, named, body)
        if "error" in answer:
            assert status >= 400
            raise Refused(answer["error"]["code"])
        assert status == 200
        return answer


@dataclass(frozen=True)
class McpSurface:
    """A key over MCP; the eras take turns by the length of what is said."""

    app: McpApp
    key: str

    def remember(self, note: Note) -> tuple[str, bool]:
        answer = self._call(
            "remember_memory",
            {
                "source": note.source,
                "text": note.body,
                "occurred_at": format_micros(note.occurred_at),
                **({"visibility": note.visibility} if note.visibility else {}),
            },
        )
        return answer["episode_id"], answer["created"]

    def get(self, identity: str) -> Shown:
        answer = self._call("get_episode", {"episode_id": identity, "max_chars": MAX_CHARS})
        assert answer["left_out"] == 0
        text = "".join(unit["text"] for unit in answer["units"])
        return Shown(answer["episode"]["source"], text, None)

    def search(self, text: str, *, k: int) -> list[Hit]:
        return hits(self._call("search_memory", {"query": text, "k": k})["passages"])

    def _call(self, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
        era = "modern" if len(json.dumps(arguments)) % 2 else "legacy"
        answer = Wire(self.app, self.key).call(tool, arguments, era=era)
        if "error" in answer:  # refused before a tool was reached
            raise Refused(answer["error"]["data"]["code"])
        values: dict[str, Any] = answer["structuredContent"]
        if answer.get("isError"):
            raise Refused(values["error"]["code"])
        return values


def hits(passages: Sequence[dict[str, Any]]) -> list[Hit]:
    """Return passages as every surface's JSON shows them."""
    return [Hit(one["episode_id"], one["label"], one["text"], one["score"]) for one in passages]


@dataclass(frozen=True)
class OwnerSurface:
    """The server's owner, who sees everything and calls the services themselves."""

    engine: Callable[[], Engine]
    scope: Scope

    def remember(self, note: Note) -> tuple[str, bool]:
        draft = NoteDraft(note.source, note.body, occurred_at=Micros(note.occurred_at))
        with _refusals():
            kept = episodes.remember(self.engine(), local_caller(), self.scope, draft).wait()
        return kept.episode_id, kept.created

    def forget(self, identity: str) -> None:
        with _refusals():
            episodes.forget(self.engine(), local_caller(), self.scope, identity).wait()

    def amend(self, identity: str, *, acl: Acl, expected: Acl) -> None:
        with _refusals():
            episodes.amend_acl(
                self.engine(), local_caller(), self.scope, identity, acl=acl, expected=expected
            ).wait()

    def get(self, identity: str) -> Shown:
        with _refusals():
            view = episodes.get_episode(self.engine(), local_caller(), self.scope, identity)
        return Shown(view.source, view.body, view.acl)

    def search(self, text: str, *, k: int) -> list[Hit]:
        found = find_passages(self.engine(), local_caller(), self.scope, PassageQuery(text, k=k))
        return [Hit(one.episode_id, one.label, one.text, one.score) for one in found]

    def listed(self, *, k: int, newest_first: bool) -> list[str]:
        found: list[str] = []
        cursor = None
        while True:
            page = episodes.list_episodes(
                self.engine(),
                local_caller(),
                self.scope,
                EpisodeFilters(newest_first=newest_first),
                k=k,
                cursor=cursor,
            )
            found += [held.episode_id for held in page.episodes]
            cursor = page.next_cursor
            if cursor is None:
                return found


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except AmpUpError as error:
        raise Refused(error.code) from error
