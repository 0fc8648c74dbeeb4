"""The server's surfaces as one client sees them: verbs that return values or raise `Refused`."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError, call_command

from mcp_gateway.asgi import McpApp
from memory.domain.acl import Acl
from memory.domain.limits import MAX_CHARS
from memory.domain.times import format_micros
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

    def told(self, text: str, *, k: int) -> str:
        asked = {"query": text, "k": k, "format": "text"}
        return str(self._call("POST", "/search", asked)["text"])

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

    def told(self, text: str, *, k: int) -> str:
        [content] = self._answer("search_memory", {"query": text, "k": k})["content"]
        return str(content["text"])

    def _call(self, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
        values: dict[str, Any] = self._answer(tool, arguments)["structuredContent"]
        return values

    def _answer(self, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
        era = "modern" if len(json.dumps(arguments)) % 2 else "legacy"
        answer = Wire(self.app, self.key).call(tool, arguments, era=era)
        if "error" in answer:  # refused before a tool was reached
            raise Refused(answer["error"]["data"]["code"])
        if answer.get("isError"):
            raise Refused(answer["structuredContent"]["error"]["code"])
        return dict(answer)


@dataclass(frozen=True)
class ShellSurface:
    """The server's owner, who sees everything, at the command line."""

    org: str

    def remember(self, note: Note) -> tuple[str, bool]:
        at = format_micros(note.occurred_at)
        answer = self._call("remember", note.source, note.body, f"--occurred-at={at}")
        return answer["episode_id"], answer["created"]

    def forget(self, identity: str) -> None:
        assert self._call("episode", "forget", identity)["forgotten"]

    def amend(self, identity: str, *, acl: Acl, expected: Acl) -> None:
        words = [f"--set={entry}" for entry in acl] + [f"--expected={entry}" for entry in expected]
        assert self._call("episode", "acl", identity, *words)["acl"] == list(acl)

    def get(self, identity: str) -> Shown:
        answer = self._call("episode", "get", identity)
        return Shown(answer["source"], answer["body"], tuple(answer["acl"]))

    def search(self, text: str, *, k: int) -> list[Hit]:
        return hits(self._call("search", text, f"-k{k}")["passages"])

    def told(self, text: str, *, k: int) -> str:
        out = io.StringIO()
        call_command("search", text, f"-k{k}", f"--scope=org:{self.org}", stdout=out)
        return out.getvalue().removesuffix("\n")

    def listed(self, *, k: int, newest_first: bool) -> list[str]:
        order, more = "newest" if newest_first else "oldest", ["--order=newest"]
        found: list[str] = []
        while more:
            page = self._call("episode", "list", f"-k{k}", *more, f"--order={order}")
            found += [held["episode_id"] for held in page["results"]]
            cursor = page["next_cursor"]
            more = [f"--cursor={cursor}"] if cursor else []
        return found

    def rebuild(self) -> None:
        call_command("index", "rebuild", stdout=io.StringIO())

    def verify(self, *, since: int) -> None:
        call_command("index", "verify", f"--since={since}", stdout=io.StringIO())

    def revoke(self, public_id: str) -> None:
        call_command("apikey", "revoke", public_id, stdout=io.StringIO())

    def _call(self, *words: str) -> dict[str, Any]:
        out = io.StringIO()
        try:
            call_command(*words, f"--scope=org:{self.org}", "--json", stdout=out)
        except CommandError as error:
            raise Refused(getattr(error.__cause__, "code", str(error))) from error
        answer: dict[str, Any] = json.loads(out.getvalue())
        return answer


def hits(passages: Sequence[dict[str, Any]]) -> list[Hit]:
    """Return passages as every surface's JSON shows them."""
    return [Hit(one["episode_id"], one["label"], one["text"], one["score"]) for one in passages]
