"""`python -m bench.profile_preparing`: what a text costs before it can land, step by step.

A tool for tuning, no measurement.  Each step is timed alone, in microseconds a text, beside the
reference tokenizer; the database is not touched.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeVar

from bench.corpus import NOTE_BYTES, PASSAGE_BYTES, TextSource
from bench.tokenizer import ReferenceTokenizer
from memory.domain.analyzer import analyze
from memory.domain.ids import body_sha256, episode_id
from memory.domain.indexed import content_key, index_body
from memory.domain.passages import cut_passages
from memory.domain.postings import pack
from memory.domain.units import UnitKind, split_units

T = TypeVar("T")
R = TypeVar("R")

_ROUNDS = 3


def main() -> int:
    """Print the steps for notes and for passages."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile_preparing", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000)
    chosen = parser.parse_args()
    for name, size in (("notes", NOTE_BYTES), ("passages", PASSAGE_BYTES)):
        print(f"{name} of {size[0]} to {size[1]} bytes, microseconds each")
        _print_steps(TextSource(stream=70).texts(chosen.count, size))
    return 0


def _print_steps(texts: Sequence[str]) -> None:
    lexemes = [analyze(text) for text in texts]
    kind = UnitKind.PARAGRAPH
    units = [split_units(text, kind) for text in texts]
    reference = _micros(ReferenceTokenizer().tokens, texts)
    steps = {
        "reference tokenizer": reference,
        "analyze": _micros(analyze, texts),
        "pack": _micros(lambda held: pack((held,)), lexemes),
        "split_units": _micros(lambda text: split_units(text, kind), texts),
        "cut_passages": _micros(
            lambda pair: cut_passages(*pair), list(zip(texts, units, strict=True))
        ),
        "content_key": _micros(content_key, texts),
        "index_body, all of these": _micros(lambda text: index_body(text, kind), texts),
        "episode_id": _micros(lambda text: episode_id("note:x", text), texts),
        "body_sha256": _micros(body_sha256, texts),
    }
    for step, micros in steps.items():
        print(f"  {step:<28}{micros:>8.1f}{micros / reference:>8.2f} x")


def _micros(step: Callable[[T], R], values: Sequence[T]) -> float:
    """Return the best round's microseconds a value, warm."""
    best = float("inf")
    for _ in range(_ROUNDS):
        began = perf_counter()
        for value in values:
            step(value)
        best = min(best, perf_counter() - began)
    return 1e6 * best / len(values)


if __name__ == "__main__":
    sys.exit(main())
