"""The model walks a program's PTX: what it moves, how long its loops are, and what a launch of it costs."""

import numpy as np
import pytest

from porter.cost_model.estimate import estimate
from porter.cost_model.program import AccessKind
from porter_triton.compiled_plan import Compiled
from porter_triton.cost import counted
from porter_triton.model.lanes import computed, shuffled
from porter_triton.model.ptx import parse
from porter_triton.model.walk import Launched, TooLongError, walk
from porter_triton.targets import targets

HEAD = """\
.visible .entry k(
	.param .u64 .ptr .global .align 1 k_param_0,
	.param .u64 .ptr .global .align 1 k_param_1,
	.param .u32 k_param_2
)
.reqntid 64
{
	.reg .pred 	%p<12>;
	ld.param.b64 	%rd1, [k_param_0];
	ld.param.b64 	%rd2, [k_param_1];
	ld.param.b32 	%r1, [k_param_2];
	mov.u32 	%r2, %tid.x;
"""
LOOP = """\
	mov.b32 	%r4, 0;
$L__BB0_2:                              // the row
	add.s32 	%r5, %r2, %r4;
	setp.lt.s32 	%p1, %r5, %r1;
	mad.wide.s32 	%rd3, %r5, 4, %rd1;
	// begin inline asm
	mov.u32 %r6, 0x0;
	@%p1 ld.global.b32 { %r6 }, [ %rd3 + 0 ];
	// end inline asm
	add.f32 	%r7, %r7, %r6;
	add.s32 	%r4, %r4, 64;
	setp.lt.s32 	%p2, %r4, %r1;
	@%p2 bra 	$L__BB0_2;
"""
X, Y = 1 << 40, 2 << 40


def counts(body, length=1000, warps=2, program=(0, 0, 0)):
    code = parse(HEAD + body + "\tret;\n}\n")
    return walk(code, Launched((X, Y, length), (100, 1, 1), program, warps))


def moved(found, name):
    return sum(access.sectors for access in found.accesses.by_place.values() if access.kind is AccessKind(name))


def test_a_row_is_read_once_however_long_it_is():
    for length in (64, 640, 1000, 64_000, 6_400_000):
        found = counts(LOOP, length)
        assert moved(found, "load") == pytest.approx(length * 4 / 32, rel=0.01)
        assert found.steps < 200
        assert found.slots == pytest.approx(9 * -(-length // 64), abs=3)


def test_a_loop_that_counts_down_is_reckoned_too():
    body = (
        "\tmov.u32 %r4, %r1;\n$L__BB0_2:\n\tadd.s32 %r4, %r4, -1;\n\tsetp.ne.b32 %p2, %r4, 0;\n\t@%p2 bra $L__BB0_2;\n"
    )
    assert counts(body, 100_000).slots == pytest.approx(300_000, rel=0.001)
    assert counts(body, 100_000).steps < 100


def test_a_loop_whose_turns_double_is_walked():
    body = (
        "\tmov.b32 %r4, 1;\n$L__BB0_2:\n\tshl.b32 %r4, %r4, 1;\n\tsetp.lt.s32 %p2, %r4, %r1;\n\t@%p2 bra $L__BB0_2;\n"
    )
    assert counts(body, 1024).steps == 3 * 10 + 6


def test_a_program_that_does_not_end_is_given_up():
    with pytest.raises(TooLongError):
        counts("$L__BB0_2:\n\tadd.s32 %r4, %r4, 1;\n\tbra.uni $L__BB0_2;\n")


@pytest.mark.parametrize(("stride", "sectors"), [(4, 8), (8, 16), (32, 64), (128, 64), (0, 2)])
def test_sectors_are_those_that_each_warp_touches(stride, sectors):
    body = f"\tmad.wide.s32 %rd3, %r2, {stride}, %rd1;\n\tld.global.b32 %r6, [%rd3];\n"
    assert moved(counts(body), "load") == sectors


def test_vectors_move_as_much_in_fewer_instructions():
    body = "\tmad.wide.s32 %rd3, %r2, 16, %rd1;\n\tld.global.v4.b32 { %r6, %r7, %r8, %r9 }, [ %rd3 + 0 ];\n"
    assert moved(counts(body), "load") == 32


def test_what_is_masked_moves_nothing():
    body = (
        "\tsetp.lt.s32 %p1, %r2, 8;\n\tmad.wide.s32 %rd3, %r2, 4, %rd2;\n\t@%p1 st.global.b32 [ %rd3 + 0 ], { %r6 };\n"
    )
    assert moved(counts(body), "store") == 1
    assert moved(counts(body.replace("@%p1", "@!%p1")), "store") == 7
    for truth, sectors in ((-1, 8), (0, 0)):
        assert moved(counts(body.replace("setp.lt.s32 %p1, %r2, 8", f"mov.pred %p1, {truth}")), "store") == sectors


def test_an_address_that_depends_on_data_is_a_sector_a_thread():
    body = "\tld.global.b32 %r6, [%rd1];\n\tmad.wide.s32 %rd3, %r6, 4, %rd2;\n\tld.global.b32 %r7, [%rd3];\n"
    assert moved(counts(body), "load") == 2 + 64


def test_a_second_pass_is_near_where_the_row_is_short_and_again_where_it_is_long():
    twice = LOOP + LOOP.replace("L__BB0_2", "L__BB0_4")
    for length, near in ((1000, True), (1_000_000, False)):
        _, second = counts(twice, length).accesses.by_place.values()
        assert second.fresh == 0
        assert (second.near > 0.8 * second.sectors) == near


def test_numbers_come_back_from_shared_memory():
    body = """\
	shl.b32 	%r4, %r2, 2;
	mov.b32 	%r5, global_smem;
	add.s32 	%r6, %r5, %r4;
	st.shared.b32 	[%r6], %r2;
	bar.sync 	0;
	ld.shared.b32 	%r7, [global_smem+20];
	mad.wide.s32 	%rd3, %r7, 64, %rd1;
	ld.global.b32 	%r8, [%rd3];
"""
    found = counts(body)
    assert found.barriers == 1
    assert found.shared == 2
    assert [access.first for access in found.accesses.by_place.values()] == [X + 5 * 64]


@pytest.mark.parametrize(
    ("words", "access", "cycles"),
    [
        *((words, "ld.shared.b32 %r7", cycles) for words, cycles in ((1, 1), (2, 2), (8, 8), (32, 32), (33, 1))),
        (4, "ld.shared.v4.b32 {%r7, %r8, %r9, %r10}", 4),
    ],
)
def test_words_of_one_bank_come_one_by_one(words, access, cycles):
    found = counts(f"\tmul.lo.s32 %r6, %r2, {4 * words};\n\t{access}, [%r6];\n")
    assert found.shared == cycles


def test_shuffles_take_the_path_to_shared_memory():
    assert counts("\tshfl.sync.bfly.b32 %r7, %r2, 1, 31, -1;\n" * 5).shared == 5


def test_copies_to_shared_memory_go_on_until_they_are_waited_for():
    copy = "\tmad.wide.s32 %rd3, %r2, 16, %rd1;\n\tcp.async.cg.shared.global [ %r2 + 0 ], [ %rd3 + 0 ], 0x10, 0x10;\n"
    commit, wait, work = "\tcp.async.commit_group;\n", "\tcp.async.wait_group \t0;\n", "\tadd.f32 %r8, %r8, %r8;\n"
    assert moved(counts(copy + commit), "load") == 32
    assert counts(copy + commit + work * 100 + wait).cycles == pytest.approx(counts(copy + commit + wait).cycles)
    assert counts(copy + commit + wait + work).cycles > 650
    assert counts(copy + commit + "\tcp.async.wait_group 1;\n").cycles < 50


def test_waiting_for_memory_in_turn_takes_longer_than_at_once():
    once = "\tld.global.b32 %r6, [%rd1];\n\tld.global.b32 %r7, [%rd2];\n\tadd.f32 %r8, %r6, %r7;\n"
    turn = once.replace("\tld.global.b32 %r7", "\tadd.f32 %r8, %r6, %r6;\n\tld.global.b32 %r7")
    assert counts(turn).cycles > 1.8 * counts(once).cycles


@pytest.mark.parametrize(
    ("op", "sources", "result"),
    [
        ("add.s32", (2**31 - 1, 1), -(2**31)),
        ("setp.lt.u32", (-1, 1), False),
        ("setp.lt.s32", (-1, 1), True),
        ("mul.wide.u32", (-1, 2), 2 * (2**32 - 1)),
        ("mul.wide.s32", (-1, 2), -2),
        ("mad.wide.s32", (3, 4, 2**40), 12 + 2**40),
        ("mul.hi.u32", (2**31, 4), 2),
        ("mad.lo.s32", (3, 4, 5), 17),
        ("div.s32", (-7, 2), -3),
        ("rem.s32", (-7, 2), -1),
        ("div.u32", (7, 0), None),
        ("bfe.u32", (0b110100, 2, 3), 0b101),
        ("cvt.s64.s32", (-5,), -5),
        ("cvt.u64.u32", (-5,), 2**32 - 5),
        ("cvt.rn.f32.s32", (5,), None),
        ("shr.s32", (-8, 1), -4),
        ("min.s32", (4, -4), -4),
        ("and.pred", (False, None), False),
        ("or.pred", (None, True), True),
        ("and.pred", (True, None), None),
        ("selp.b32", (1, 2, True), 1),
        ("add.f32", (1, 2), None),
        ("add.s32", (None, 2), None),
        ("lop3.b32", (1, 2, 3), None),
    ],
)
def test_integer_instructions_as_the_isa_has_them(op, sources, result):
    assert computed(op, sources) == result
    lanes = [np.full(64, s) if isinstance(s, int) and not isinstance(s, bool) else s for s in sources]
    over_lanes = computed(op, lanes)
    assert (over_lanes is None) == (result is None)
    assert result is None or (np.asarray(over_lanes) == result).all()


def test_shuffles_move_values_within_warps():
    tid = np.arange(64)
    assert (shuffled("bfly", tid, 16) == (tid ^ 16)).all()
    assert (shuffled("up", tid, 1) == np.where(tid % 32 == 0, tid, tid - 1)).all()
    assert (shuffled("idx", tid, 3) == tid // 32 * 32 + 3).all()


def cost(body, length, programs, buffers, **compiled):
    given = {"ptx": "", "warps": 2, "registers": 32, "shared_bytes": 0, "local_bytes": 0} | compiled
    grid = (programs, 1, 1)
    return estimate(counted(counts(body, length, given["warps"]), Compiled(**given)), grid, buffers, targets()[0].chip)


def test_a_copy_of_a_gigabyte_costs_what_memory_takes():
    body = """\
	mov.u32 	%r4, %ctaid.x;
	mad.lo.s32 	%r5, %r4, 64, %r2;
	mad.wide.s32 	%rd3, %r5, 16, %rd1;
	ld.global.v4.b32 	{ %r6, %r7, %r8, %r9 }, [ %rd3 + 0 ];
"""
    part = cost(body, 0, 1 << 20, {X: 1 << 30})
    assert part.bound == "memory"
    assert part.total == pytest.approx((1 << 30) / 4.2e6, rel=0.02)


def test_few_programs_wait_and_registers_keep_programs_out():
    assert cost(LOOP, 1 << 18, 8, {X: 1 << 23}).bound == "programs"
    assert cost(LOOP, 1 << 12, 1 << 16, {X: 1 << 30}, registers=255).resident == 4
    assert cost(LOOP, 1 << 12, 1 << 16, {X: 1 << 30}, shared_bytes=100_000).resident == 2
