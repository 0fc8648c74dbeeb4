"""The commands: the owner sees all of the scope that is named, and nothing beside it."""

import io
import json
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout

import pytest
from django.core.management import CommandError, call_command

from tests.leaks.entries import COMMANDS, SHELL_IDS
from tests.leaks.world import ACME, MISSING_ID, MISSING_KEY, World, key_mark

RUN = tuple(name for name, shell in COMMANDS.items() if shell.elsewhere is None)


def run(name: str, words: tuple[str, ...]) -> tuple[str, str]:
    """Return what a command writes to its output and to its errors."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        call_command(*name.split(), *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("name", RUN)
def test_a_command_shows_its_scope_and_no_key(world: World, name: str) -> None:
    """Documented: a key's text is shown once, when it is made; a scope is isolated."""
    (world.spool / "load.txt").write_text("Ann: We sail at nine.\nBob: Fine.\n")
    shell = COMMANDS[name]
    for form in ((), ("--json",)):
        since = len(world.lines)
        out, err = run(name, (*shell.words(world), *form))
        everything = "\n".join((out, err, *world.lines[since:]))
        for held in world.callers:
            assert held.key is None or held.key not in everything, held.name
        made = Counter(word for word in everything.replace('"', " ").split() if "msk_" in word)
        assert sum(made.values()) == (1 if name == "apikey create" else 0)
        logged = "\n".join(world.lines[since:])
        for canary in world.canaries:
            assert canary.mark not in logged
            if shell.scope is not None and (canary.scope != shell.scope or not canary.acl):
                assert canary.mark not in everything, canary.name
                assert canary.episode_id not in everything, canary.name
        if form:
            assert json.loads(out) is not None


def test_the_owner_is_shown_every_text_of_the_scope(world: World) -> None:
    """Ours: there is something for the test above to find in other scopes."""
    out, _ = run("search", COMMANDS["search"].words(world))
    inside = [one for one in world.canaries if one.scope == ACME and one.acl]
    assert len(inside) == 3
    assert all(one.mark in out for one in inside)


@pytest.mark.parametrize("name", SHELL_IDS)
def test_an_id_of_another_scope_is_refused_like_a_missing_one(world: World, name: str) -> None:
    """Documented: the scope that is named is the whole memory, for its owner too."""
    refusals = set()
    outside = [one for one in world.canaries if one.scope != ACME or not one.acl]
    if name == "episode forget":  # the owner's forgetting again names who did it first
        outside = [one for one in outside if one.acl]
    for identity in (MISSING_ID, *(canary.episode_id for canary in outside)):
        with pytest.raises(CommandError) as refused:
            run(name, (identity, "--scope", ACME, *SHELL_IDS[name]))
        refusals.add(str(refused.value))
    assert len(refusals) == 1


def test_a_key_that_is_not_there_is_refused_without_naming_others(world: World) -> None:
    """Ours: a wrong id lists no right ones."""
    with pytest.raises(CommandError) as refused:
        run("apikey revoke", (MISSING_KEY,))
    assert not any(public_id in str(refused.value) for public_id in world.keys_of.values())
    out, _ = run("apikey list", ())
    assert all(key_mark(home) in out for home in world.keys_of)
