"""The interpreter computes what threads compute one after the other."""

import numpy as np
import pytest

from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.interpret.domain import ExecutionError, numpy_type
from porter.ir.simt.interpret.machine import Geometry, execute
from porter.ir.simt.interpret.memory import Bytes
from porter.ir.simt.ops import Function, walk
from porter.ir.simt.parser import parsed
from porter.ir.simt.types import Scalar
from porter.ir.simt.verify import verify
from tests.pure.ir.simt import one_thread
from tests.pure.ir.simt.random_programs import INPUTS, NUMBERS, OUTPUTS, function, threads_of, varied


def inputs(seed: int) -> list[np.ndarray]:
    chance = np.random.default_rng(seed)
    found = []
    for type_ in NUMBERS:
        dtype = numpy_type(type_)
        if type_.is_float:
            found.append((chance.standard_normal(INPUTS) * 4).astype(dtype))
        else:
            limits = np.iinfo(dtype)
            found.append(chance.integers(limits.min, limits.max, INPUTS, dtype, endpoint=True))
    return found


def blocks_of(seed: int) -> int:
    return 2 if seed % 8 == 1 else 1


def by_interpreter(made: Function, given: list[np.ndarray], seed: int) -> list[np.ndarray]:
    blocks, threads = blocks_of(seed), threads_of(seed)
    memory, count = Bytes(), blocks * threads * OUTPUTS
    held = [memory.hold(values.tobytes()) for values in given]
    out = [memory.hold(bytes(count * numpy_type(type_).itemsize)) for type_ in NUMBERS]
    addresses = [np.array(address) for address in (*held, *out)]
    execute(made, [*addresses, np.array(7, np.int32), np.array(0.75, np.float32)],
            Geometry((blocks, 1, 1), (threads, 1, 1)), Concrete(), memory)  # fmt: skip
    return [memory.held(a).view(numpy_type(type_)) for a, type_ in zip(out, NUMBERS, strict=True)]


def by_threads(made: Function, given: list[np.ndarray], seed: int) -> list[np.ndarray]:
    blocks, threads = blocks_of(seed), threads_of(seed)
    count = blocks * threads * OUTPUTS
    held = [one_thread.memory_of(values, type_) for values, type_ in zip(given, NUMBERS, strict=True)]
    out = [one_thread.memory_of(np.zeros(count), type_) for type_ in NUMBERS]
    one_thread.execute(made, [*held, *out, 7, np.float32(0.75)], blocks, threads)
    return [np.array(values, numpy_type(type_)) for (values, _), type_ in zip(out, NUMBERS, strict=True)]


def told_apart(left: list[np.ndarray], right: list[np.ndarray]) -> list[str]:
    """The types whose outputs differ; which NaN it is, and the sign of a zero that an extreme chose, is open."""
    pairs = zip(NUMBERS, left, right, strict=True)
    return [str(type_) for type_, a, b in pairs if not np.array_equal(a, b, equal_nan=type_.is_float)]


def test_random_functions_compute_what_single_threads_do():
    for seed in varied(200):
        made, given = function(seed), inputs(seed)
        with np.errstate(all="ignore"):
            expected = by_threads(made, given, seed)
        assert told_apart(by_interpreter(made, given, seed), expected) == [], seed


def test_dead_code_changes_nothing():
    fewer = 0
    for seed in varied(100):
        made, given = function(seed), inputs(seed)
        less = without_dead_code(made)
        verify(less)
        fewer += len(list(walk(made.body))) - len(list(walk(less.body)))
        assert told_apart(by_interpreter(less, given, seed), by_interpreter(made, given, seed)) == [], seed
    assert fewer > 1000


def run(body: str, threads: int = 32, size: int = 64) -> np.ndarray:
    made = parsed(f"kernel k(%x: ptr<i32, global> = 0) {{\n%t = thread_index {{axis = 0}} : u32\n{body}\nreturn\n}}")
    verify(made)
    memory = Bytes()
    held = memory.hold(np.zeros(size, np.int32).tobytes())
    execute(made, [np.array(held)], Geometry((1, 1, 1), (threads, 1, 1)), Concrete(), memory)
    return memory.held(held).view(np.int32)


HALF = "%h = constant {value = 16} : u32\n%c = lt %t, %h : bool\n%one = constant {value = 1} : i32\n"


def test_threads_that_have_ended_need_not_reach_a_barrier():
    assert run(f"{HALF}if %c {{ barrier {{scope = block}}\n store %x, %t, %one }} {{ }}").tolist()[15:17] == [1, 0]


def test_a_thread_that_goes_on_past_a_barrier_that_it_did_not_reach_is_told():
    with pytest.raises(ExecutionError, match="a thread goes on that a barrier before has not found"):
        run(f"{HALF}if %c {{ barrier {{scope = block}} }} {{ }}\nstore %x, %t, %one")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%i = constant {value = 64} : i32\n%v = load %x, %i : i32", "an access at byte 256 of a memory of 256 bytes"),
        ("%i = constant {value = -1} : i32\n%v = load %x, %i : i32", "an access to no memory"),
        ("%n = constant {value = 0} : ptr<i32, global>\n%v = load %n, %t : i32", "an access through a null pointer"),
        ("%a = array : array<i32, 4, local>\n%v = load %a, %t : i32", "an access at byte 16 of a memory of 16 bytes"),
        ("%y = bitcast %x : ptr<i32x2, global>\n%z = bitcast %x : ptr<u8, global>\n%one = constant {value = 4} : i32\n"
         "%w = offset %z, %one : ptr<u8, global>\n%u = bitcast %w : ptr<i32x2, global>\n%v = load %u, %t : i32x2",
         "an access that is not aligned to 8 bytes"),
        ("%f = constant {value = false} : bool\nassert %f {message = \"n > 0\"}", "an assertion fails: n > 0"),
    ],
)  # fmt: skip
def test_what_no_device_allows_is_told(body, message):
    with pytest.raises(ExecutionError, match=message):
        run(body)


def test_an_atomic_sum_counts_every_lane():
    found = run("%one = constant {value = 1} : i32\n%z = constant {value = 0} : i32\n"
                "%old = atomic %x, %z, %one {op = add} : i32\n%s = add %z, %one : i32\n"
                "%y = offset %x, %one : ptr<i32, global>\nstore %y, %t, %old")  # fmt: skip
    assert found[0] == 32
    assert sorted(found[1:33].tolist()) == list(range(32))


def test_the_types_of_numbers_are_all_tried():
    assert set(NUMBERS) >= {Scalar.I32, Scalar.U32, Scalar.I64, Scalar.F16, Scalar.F32, Scalar.F64}
