"""Cheats of every family, none of which passes, and honest candidates that look odd, none of which is accused."""

import pytest

from porter.simt.compiler import missing_compiler
from tests.toolchain.triton.held_candidates import FAMILIES, Judge, pieces

CHEATS = [piece for family in FAMILIES for piece in pieces(family)]
HONEST = pieces("honest")
# Cheats that nobody can tell from what honest host code does: what of them was not looked at is in the verdict.
NAMED = pieces("named")


@pytest.fixture(scope="module")
def judge(build_cache):
    """The judge of all candidates here: one original, executed once."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    return Judge(build_cache)


@pytest.mark.parametrize("piece", CHEATS, ids=lambda piece: piece.name)
def test_a_cheat_is_seen(judge, piece):
    needs_compiler = "not_built" in piece.expected or "PORT1810" in piece.expected
    verdict = judge.verdict(piece, compiling=needs_compiler)
    assert not verdict.verified
    assert any(expected in verdict.said for expected in piece.expected), verdict.said


@pytest.mark.parametrize("piece", HONEST, ids=lambda piece: piece.name)
def test_an_honest_candidate_is_not_accused(judge, piece):
    verdict = judge.verdict(piece, compiling=False)
    assert verdict.verified, verdict.said
    assert all(words in verdict.said for words in piece.expected), verdict.said


@pytest.mark.parametrize("piece", NAMED, ids=lambda piece: piece.name)
def test_what_was_not_looked_at_is_in_the_verdict(judge, piece):
    verdict = judge.verdict(piece, compiling=False)
    assert verdict.verified, verdict.said
    assert all(words in verdict.said for words in piece.expected), verdict.said
