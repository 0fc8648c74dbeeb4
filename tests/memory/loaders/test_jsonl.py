"""JSON Lines."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.loaders.item import FileItem, Refusal
from memory.loaders.jsonl import MAX_LINE_BYTES, read_jsonl
from memory.loaders.lines import bounded_lines


def _read(*lines: object) -> list[FileItem | Refusal]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return [item for _, item in read_jsonl([text.encode(errors="surrogatepass")])]


def test_a_line_is_an_episode_with_its_fields() -> None:
    """Documented: the fields of `POST /episodes`."""
    line = {
        "source": "gong:1",
        "body": "Ann: hi\r\n",
        "occurred_at": "2026-03-31T14:22:10Z",
        "acl": ["*"],
        "about": ["account:acme"],
        "tags": ["q1"],
        "document": "d",
        "meta": {"seats": 3},
        "type": "doc",
    }
    assert _read(line, {"source": "s", "body": "b", "acl": None}) == [
        FileItem(
            source="gong:1",
            body="Ann: hi\r\n",
            occurred_at=1_774_966_930_000_000,  # type: ignore[arg-type]
            acl=("*",),
            about=("account:acme",),
            tags=("q1",),
            document="d",
            meta={"seats": 3},
            episode_type="doc",
        ),
        FileItem(source="s", body="b", occurred_at=None),
    ]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", None),
        ("[1]", None),
        ('"x"', None),
        ("[" * 5000, None),
        ('{"source": "s", "body": "\\ud800"}', None),
        ('{"source": "s", "body": "\ud800"}', None),
        ('{"source": "s"}', "body"),
        ('{"body": "b", "source": 7}', "source"),
        ('{"source": "s", "body": "b", "scoure": 1}', "scoure"),
        ('{"source": "s", "body": "b", "occurred_at": "2026-01-01"}', "occurred_at"),
        ('{"source": "s", "body": "b", "occurred_at": 1e18}', "occurred_at"),
        ('{"source": "s", "body": "b", "acl": "*"}', "acl"),
        ('{"source": "s", "body": "b", "tags": [1]}', "tags"),
        ('{"source": "s", "body": "b", "meta": {"a": [1.5]}}', "meta"),
        ('{"source": "s", "body": "b", "meta": ' + '{"a":' * 900 + "1" + "}" * 901, "meta"),
    ],
)
def test_a_line_that_is_no_episode_is_refused_alone(line: str, field: str | None) -> None:
    """Documented: refused lines are reported with their field, the rest is read."""
    before, refused, after = _read({"source": "a", "body": "a"}, line, {"source": "b", "body": "b"})
    assert isinstance(before, FileItem)
    assert isinstance(after, FileItem)
    assert isinstance(refused, Refusal)
    assert refused.field == field


def test_line_numbers_count_every_line_and_marks_and_line_ends_are_no_matter() -> None:
    """Ours: a byte order mark, CRLF and blank lines are read past."""
    content = b'\xef\xbb\xbf{"source":"a","body":"a"}\r\n\r\n \n{"source":"b","body":"b"}\r\nx'
    found = list(read_jsonl([content[:2], content[2:9], content[9:]]))
    assert [number for number, _ in found] == [1, 4, 5]
    assert [type(item) for _, item in found] == [FileItem, FileItem, Refusal]


def test_an_endless_line_is_read_past_without_being_kept() -> None:
    """Ours: memory stays bounded whatever a file holds."""
    kept = 0

    def chunks() -> Iterator[bytes]:
        nonlocal kept
        for kept in range(40):  # noqa: B007 — counted from outside
            yield b"x" * 2**20
        yield b'\n{"source":"b","body":"b"}\n'

    found = list(read_jsonl(chunks()))
    assert [number for number, _ in found] == [1, 2]
    assert isinstance(found[0][1], Refusal)
    assert str(MAX_LINE_BYTES) in found[0][1].reason
    assert kept == 39


@given(st.lists(st.binary(max_size=12)), st.integers(0, 8))
def test_lines_are_the_same_however_the_bytes_are_cut(chunks: list[bytes], limit: int) -> None:
    """Ours: pieces of any size give the same lines."""
    whole = b"".join(chunks)
    assert list(bounded_lines(chunks, limit=limit)) == list(bounded_lines([whole], limit=limit))
    ended = whole.removesuffix(b"\n").split(b"\n") if whole else []
    assert [line for _, line in bounded_lines(chunks, limit=limit)] == [
        line.removesuffix(b"\r") if len(line) <= limit else None for line in ended
    ]
