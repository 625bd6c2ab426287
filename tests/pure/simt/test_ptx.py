"""Inline PTX becomes C++ by the table, or a reason why not."""

import pytest

from porter.simt.ptx import Unsupported, lower, parse_asm
from porter.simt.ptx_text import UnreadableAsmError


def lowered(text, column="simt"):
    result = lower(parse_asm(text), column)
    assert isinstance(result, str), result
    return result


def refused(text, column="simt"):
    result = lower(parse_asm(text), column)
    assert isinstance(result, Unsupported), result
    return result.reason


def test_statement_is_taken_apart():
    statement = parse_asm(
        r'asm volatile("add.s32 %0, %1, %2;\n" "mov.u32 %0, %0;" : "=r"(x[f(1, 2)]) : "r"(a), "n"(4) : "memory")'
    )
    assert statement.template == "add.s32 %0, %1, %2;\nmov.u32 %0, %0;"
    assert [(o.constraint, o.expression) for o in statement.outputs] == [("=r", "x[f(1, 2)]")]
    assert [(o.constraint, o.expression) for o in statement.inputs] == [("r", "a"), ("n", "4")]
    assert statement.clobbers == ("memory",)


def test_adjacent_colons_leave_a_section_empty():
    assert parse_asm('asm("nanosleep.u32 %0;" :: "r"(n))').inputs[0].expression == "n"


@pytest.mark.parametrize("text", ['asm(MACRO "add")', 'asm("x" : "=r" y)', "f(x)"])
def test_what_cannot_be_read_says_so(text):
    with pytest.raises(UnreadableAsmError):
        parse_asm(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('asm("" ::: "memory")', "((void)0)"),
        ('asm("mov.u32 %0, %%laneid;" : "=r"(lane))', "(lane) = ((unsigned int)porter::simt::lane());"),
        ('asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x))', "(y) = exp2f((x));"),
        ('asm("ld.global.u32 {%0}, [%1];" : "=r"(y) : "l"(p))', "(y) = *(unsigned int*)((char*)(p));"),
        ('asm("mov.b32 %0, %1;" : "=f"(y) : "r"(bits))', "(y) = __uint_as_float((bits));"),
        ('asm("mul.f32 %0, %1, 0f3f000000;" : "=f"(y) : "f"(x))', "(y) = (x) * __uint_as_float(0x3f000000u);"),
        (
            'asm("ld.global.nc.L1::no_allocate.f32 %0, [%1+8];" : "=f"(y) : "l"(p))',
            "(y) = *(float*)(((char*)(p)) + 8);",
        ),
        ('asm("red.global.add.f32 [%0], %1;" :: "l"(p), "f"(x))', "atomicAdd((float*)((char*)(p)), (x));"),
        ('asm("bar.sync 0;")', "__syncthreads();"),
        ('asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo))', "__float2bfloat16_rn((hi))) << 16"),
        (
            'asm("cvt.sat.s8.s32 %0, %1;" : "=r"(d) : "r"(n))',
            "(d) = (signed char)min(max((int)(int)((n)), -128), 127);",
        ),
        ('asm("cvt.u8.u32 %0, %1;" : "=r"(d) : "r"(n))', "(d) = (unsigned char)(unsigned int)((n));"),
    ],
)
def test_common_instructions(text, code):
    assert code in lowered(text)


def test_vector_load_reads_once_and_spreads():
    code = lowered('asm("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p))')
    assert "const uint4 ptx_v = *(uint4*)((char*)(p));" in code
    assert code.index("(a) = ptx_v.x") < code.index("(d) = ptx_v.w")


def test_half_pairs_are_viewed_through_their_registers():
    code = lowered('asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))')
    assert "__hfma2(reinterpret_cast<const __half2&>(ptx_1), reinterpret_cast<const __half2&>(ptx_2)" in code
    assert "(d) = reinterpret_cast<const unsigned int&>(ptx_0);" in code


def test_registers_of_the_template_cannot_capture_the_users_variables():
    code = lowered(
        'asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p mov.u32 %0, 1; @!p mov.u32 %0, 2; }" : "=r"(p) : "r"(q))'
    )
    assert code.startswith("do { bool ptx_p{};")
    assert "if (ptx_p) { (p) = 1; } if (!ptx_p) { (p) = 2; }" in code


def test_statement_fits_after_an_if_without_braces():
    code = lowered('asm("membar.gl; mov.u32 %0, %1;" : "=r"(x) : "r"(y))')
    assert code.startswith("do { ")
    assert code.endswith(" } while (0)")


def test_columns_differ_where_the_targets_do():
    text = 'asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m))'
    assert "porter::ptx::lanemask_lt()" in lowered(text)
    assert "(1ull << __lane_id()) - 1" in lowered(text, "maca")
    named = 'asm("bar.sync %0, %1;" :: "r"(id), "r"(n))'
    assert "named_barrier" in lowered(named)
    assert "no counterpart on MACA" in refused(named, "maca")


def test_shared_addresses_are_numbers_only_the_executor_takes_back():
    text = 'asm("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address))'
    assert "porter::ptx::shared_address((address))" in lowered(text)
    assert "shared memory" in refused(text, "maca")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1};" : "=f"(d) : "r"(a))', "tensor-core"),
        ('asm("cp.async.bulk.commit_group;")', "Hopper"),
        ('asm("L: bra L;")', "jumps"),
        ('asm("frobnicate.f32 %0, %1;" : "=f"(d) : "f"(a))', "no C++ form is known"),
        ('asm("mov.u32 %0, %7;" : "=r"(d))', "no such operand"),
        ('asm("mov.u32 %0, %%envreg3;" : "=r"(d))', "no counterpart"),
    ],
)
def test_refusals_say_why(text, reason):
    assert reason in refused(text)
