"""Rules over modules: what they make of kernels, and which they leave alone."""

import ast
from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.proposing.rewrite import RewriteProposer
from porter.evolve.scored import Scored
from porter.source_text import Source
from porter_triton.rewrites import rewrites

TEXT = """\
import triton
import triton.language as tl


@triton.jit
def norm(x, y, n, BLOCK: tl.constexpr):
    tid = tl.arange(0, BLOCK)
    root = tl.sqrt_rn(tl.div_rn(tl.sum(tl.load(x + tid), axis=0), n.to(tl.float32)) + 1.0)
    for i in range(0, n, 256):
        v = tl.load(x + i + tid) * 2.0
        tl.store(y + i + tid, (v + 1.0) / root, mask=tid < n)


def forward(x, y):
    norm[(1,)](x, y, 512, BLOCK=256)
"""
RULES = ["division by reciprocal"]


def made(text):
    found = {one.rule: one for one in rewrites((PortedFile("op.py", text, Source(Path("op.py"), text)),))}
    for one in found.values():
        ast.parse(one.files[0].text)
    return found


def test_the_innermost_of_nested_quotients_goes_first_and_the_next_one_then():
    once = made(TEXT.replace("(v + 1.0) / root", "tl.div_rn(tl.div_rn(v, root) + 1.0, n)"))["division by reciprocal"]
    text = once.files[0].text
    assert "tl.div_rn(((v) * tl.div_rn(1.0, root)) + 1.0, n)" in text
    twice = made(text)["division by reciprocal"].files[0].text
    assert "((((v) * tl.div_rn(1.0, root)) + 1.0) * tl.div_rn(1.0, n))" in twice
    assert not made(twice)


def test_nothing_is_rounded_coarser_than_the_interpreter_shows():
    outside = TEXT.replace("(v + 1.0) / root", "tl.div_rn(v, root)")
    for text in (TEXT, outside):
        after = made(text)["division by reciprocal"].files[0].text
        assert after.count("_rn(") >= text.count("_rn(")


def test_a_divisor_that_the_loop_leaves_alone_is_multiplied_with():
    text = made(TEXT)["division by reciprocal"].files[0].text
    assert text == TEXT.replace("(v + 1.0) / root", "(v + 1.0) * (1.0 / root)")


@pytest.mark.parametrize("divisor", ["v", "i", "(root + v)", "2.0"])
def test_a_divisor_that_changes_or_is_no_name_stays(divisor):
    assert list(made(TEXT.replace("/ root", f"/ {divisor}"))) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(v + 1.0) / root", "tl.floor((v + 1.0) / root)"),
        ("(v + 1.0) / root", "((v + 1.0) / root).to(tl.int32)"),
        ("(v + 1.0) / root", "((v + 1.0) / root).to(y.dtype.element_ty)"),
        ("(v + 1.0) / root", "tl.cast(v / root, tl.int8)"),
        ("* 2.0\n", "* root\n        v = (v * 2.0).to(tl.int8)\n"),
    ],
)
def test_what_may_become_a_whole_number_is_left_alone(before, after):
    assert before in TEXT
    assert not made(TEXT.replace(before, after))


def test_whole_numbers_that_come_of_no_quotient_do_not_matter():
    assert list(made(TEXT.replace("+ i + tid)", "+ (i + tid).to(tl.int64))"))) == RULES


def test_a_tile_is_multiplied_with_what_one_number_divides():
    straight = TEXT.replace("    for i in range(0, n, 256):\n", "    if n > 0:\n        i = 0\n")
    text = made(straight.replace("/ root", "/ n.to(tl.float32)"))["division by reciprocal"].files[0].text
    assert "(v + 1.0) * (1.0 / n.to(tl.float32))" in text
    assert "tl.div_rn(tl.sum(" in text, "one number by another is one division either way"
    assert not made(straight.replace("/ root", "/ (v * v)"))
    assert not made(straight.replace("/ root", "/ tid"))


def test_what_is_no_python_gets_no_rule():
    assert not made("no python (")


def test_the_proposer_says_which_rule_and_proposes_nothing_twice():
    def rewritten(files):
        return rewrites((PortedFile("op.py", files[0].text, Source(Path("op.py"), files[0].text)),))

    seed = Candidate((File("op.py", TEXT),), Origin("seed"))
    proposer = RewriteProposer(rewritten)
    seen = {seed.digest}
    notes = []
    for number in range(4):
        parents = (Member(seed, Scored(seed.digest, "verified", "")),)
        request = Request(1, number, 0, number, parents, (), seen=frozenset(seen))
        assert proposer.propose(request) == proposer.propose(request)
        for candidate in proposer.propose(request):
            assert candidate.origin.parents == (seed.digest,)
            seen.add(candidate.digest)
            notes.append(candidate.origin.note)
    assert sorted(notes) == [f"{rule}: norm" for rule in RULES]
