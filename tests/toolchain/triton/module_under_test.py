"""What a generated module may do, well and badly: run by the tests of the worker, never imported here."""

from pathlib import Path

import torch
import triton
import triton.language as tl

# Around the guard, to see what the walls behind it hold.
os, sys = torch.os, torch.sys
socket, subprocess, threading = (sys.modules[name] for name in ("socket", "subprocess", "threading"))


@triton.jit
def add_kernel(a, b, c, n, block_size: tl.constexpr):
    i = tl.program_id(0) * block_size + tl.arange(0, block_size)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)


@triton.jit
def counted_kernel(x):
    tl.atomic_add(x, 1)


@triton.jit
def unguarded_kernel(x, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    tl.store(x + i, tl.load(x + i) + 1)


@triton.jit
def rotate_kernel(x, block_size: tl.constexpr, ordered: tl.constexpr):
    i = tl.arange(0, block_size)
    next_one = tl.load(x + (i + 1) % block_size)
    if ordered:
        tl.debug_barrier()
    tl.store(x + i, next_one)


@triton.jit
def centre_kernel(x, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    total = tl.sum(tl.load(x + (i + 1) % block_size))
    tl.store(x + i, total)


@triton.jit
def dead_lanes_kernel(x, y, n, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    tl.store(y, tl.sum(tl.load(x + i, mask=i < n)))


@triton.jit
def dead_lane_kernel(x, y, n, other: tl.constexpr):
    pid = tl.program_id(0)
    one = tl.arange(0, 1)
    tl.store(y + 2 * pid, tl.load(x + pid, mask=pid < n, other=other))
    tl.store(y + 2 * pid + 1 + one, tl.load(x + pid + one, mask=pid + one < n, other=other))


@triton.jit
def chain_kernel(x):
    before = tl.load(x + tl.program_id(0))
    tl.store(x + tl.program_id(0) + 1, before + 1)


@triton.jit
def bump(x):
    if x > 0:
        x = x + 1
    return x


@triton.jit
def uncompilable_kernel(x, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    tl.store(x + i, bump(tl.load(x + i)))


@triton.jit
def scaled_kernel(x, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    tl.store(x + i, 1.5 * tl.load(x + i) + 0.25)


@triton.jit
def before_kernel(x, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    before = tl.gather(tl.load(x + i), i - 1, 0)
    tl.debug_barrier()
    tl.store(x + i, tl.where(i > 0, before, 0.0))


@triton.jit
def failing_kernel(x):
    tl.store(x + tl.arange(0, 3), 1.0)


@triton.jit
def asserting_kernel(x):
    tl.device_assert(tl.load(x) > 0, "x must be positive")


@triton.jit
def given_kernel(x, y, limit: tl.constexpr):
    if x.to(tl.int64) != limit:
        tl.store(y, 7)


def divided(x, y, by):
    add_kernel[(1,)](x, x, y, int(64 / by[0].item()), block_size=256, num_warps=8)


def given(x, y, limit):
    given_kernel[(1,)](x, y, limit=limit)


@triton.jit
def aligned_kernel(x, y, bits: tl.constexpr):
    if bits == 0:
        tl.store(y + tl.arange(0, 2), (x + tl.arange(0, 2)).to(tl.int64) & 15)
    elif bits == 16:
        tl.store(y + tl.arange(0, 2), ((x + tl.arange(0, 2)).to(tl.int64).to(tl.uint64) % 16).to(tl.int64))
    else:
        tl.store(y + tl.arange(0, 2), (x + tl.arange(0, 2)).to(tl.int64) >> bits)


def aligned(x, y, bits):
    aligned_kernel[(1,)](x, y, bits=bits)


def add(a, b, c, n):
    add_kernel[(triton.cdiv(n, 256),)](a, b, c, n, block_size=256, num_warps=8)


def unguarded(x):
    unguarded_kernel[(1,)](x, block_size=64)


def rotate(x, ordered):
    rotate_kernel[(1,)](x, block_size=64, ordered=bool(ordered))


def centre(x):
    centre_kernel[(1,)](x, block_size=64)


def dead_lanes(x, y, n):
    dead_lanes_kernel[(1,)](x, y, n, block_size=64)


def dead_lane(x, y, n, other):
    dead_lane_kernel[(x.numel(),)](x, y, n, other=other)


def chain(x):
    chain_kernel[(x.numel() - 1,)](x)


def asserting(x):
    asserting_kernel[(1,)](x)


def uncompilable(x):
    uncompilable_kernel[(1,)](x, block_size=64)


@triton.jit
def doubled_kernel(x, y, n, block_size: tl.constexpr):
    i = tl.arange(0, block_size)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def doubled(x):
    y = torch.empty_like(x)
    doubled_kernel[(1,)](x, y, x.numel(), block_size=64)
    return y, torch.empty_like(x)


def launch_add_kernel(a, b, c, n, *, grid, block, shared_bytes=0):
    if shared_bytes:
        raise ValueError("no shared memory")
    add_kernel[(grid[0],)](a, b, c, n, block_size=block[0])


def before(x):
    before_kernel[(1,)](x, block_size=64)


KEPT = {}


def kept(x):
    y = KEPT.setdefault("y", torch.empty_like(x))
    doubled_kernel[(1,)](x, y, x.numel(), block_size=64)
    return y


@triton.jit
def turn_kernel(y, counter):
    tl.store(y + tl.program_id(0), tl.atomic_add(counter, 1).to(tl.float32))


def turns(y):
    if "counter" not in KEPT:
        KEPT["counter"] = torch.zeros(1, dtype=torch.int32, device=y.device)
    turn_kernel[(1,)](y, KEPT["counter"])


def scaled(x):
    scaled_kernel[(1,)](x, block_size=64)


def checked(x):
    raise ValueError(f"x must be 2-D, not {x.dim()}-D")


def of_the_host(x, how):
    """What runs only where device and host share their memory."""
    unguarded_kernel[(1,)](x, block_size=1)
    if how == 0:
        unguarded_kernel[(1,)](torch.zeros(1), block_size=1)
    elif how == 1:
        unguarded_kernel[(1,)](x.cpu(), block_size=1)
    elif how == 2:
        x.numpy()[0] = 1
    elif how == 3:
        x += torch.ones(x.shape)


def swallowed(x):
    """The kernel fails, and somebody else does its work."""
    try:
        failing_kernel[(1,)](x)
    except Exception:  # noqa: BLE001 - that is the trick
        x += 1


def at_home(x):
    """What a launcher may do with both memories."""
    made = torch.zeros(x.shape, device=x.device)
    made[1:] = torch.ones(x.shape)[1:]
    unguarded_kernel[(1,)](made, block_size=1)
    assert x.is_cuda
    assert not torch.zeros(1).is_cuda
    return (made + x) * 2 + torch.tensor(1.0)


def filled(x):
    """As many programs as the device has multiprocessors."""
    count = torch.cuda.get_device_properties(x.device).multi_processor_count
    counted_kernel[(count,)](x)


def endless():
    while True:
        pass


def abort():
    os.abort()


def hog():
    return torch.ones(1 << 36)


def write(name):
    Path(("inside.txt", "../outside.txt", "/dev/null")[name]).write_text("text")


def read(elsewhere):
    return len([*Path("/tmp").iterdir()]) if elsewhere else len(Path(__file__).read_text())


def connect():
    socket.create_connection(("127.0.0.1", 9))


def start(how):
    if how:
        os.fork()
    else:
        subprocess.run(["/bin/true"], check=True)


def thread():
    started = threading.Thread(target=int)
    started.start()
    started.join()


def chatter(x):
    sys.stdout.write("0123456789" * 1000)
    return x


@triton.jit
def add_halves_kernel(total, x, before, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(before + i, tl.atomic_add(total + i % 2, tl.load(x + i), mask=i > 0), mask=i > 0)


def add_halves(total, x, before):
    add_halves_kernel[(1,)](total, x, before, n=x.numel())


@triton.jit
def meeting_kernel(x, sums, arrivals, y, block: tl.constexpr, parts: tl.constexpr, wanted: tl.constexpr):
    ticket = tl.atomic_add(arrivals, 1, sem="relaxed")
    part, row = ticket % parts, ticket // parts
    i = (row * parts + part) * block + tl.arange(0, block)
    mine = tl.load(x + i)
    tl.store(sums + row * parts + part, tl.sum(mine, axis=0))
    tl.debug_barrier()
    tl.atomic_add(arrivals + 1 + row, 1, sem="release")
    while tl.atomic_add(arrivals + 1 + row, 0, sem="acquire") < wanted:
        pass
    tl.store(y + i, mine / tl.sum(tl.load(sums + row * parts + tl.arange(0, parts)), axis=0))


@triton.jit
def hasty_kernel(x, sums, arrivals, y, block: tl.constexpr, parts: tl.constexpr):
    part, row = tl.program_id(0) % parts, tl.program_id(0) // parts
    i = (row * parts + part) * block + tl.arange(0, block)
    mine = tl.load(x + i)
    tl.store(sums + row * parts + part, tl.sum(mine, axis=0))
    tl.debug_barrier()
    tl.atomic_add(arrivals + 1 + row, 1, sem="relaxed")
    while tl.atomic_add(arrivals + 1 + row, 0, sem="relaxed") < parts:
        pass
    tl.store(y + i, mine / tl.sum(tl.load(sums + row * parts + tl.arange(0, parts)), axis=0))


@triton.jit
def crowd_kernel(arrivals, y):
    tl.atomic_add(arrivals, 1)
    while tl.atomic_add(arrivals, 0) < tl.num_programs(0):
        pass
    tl.store(y + tl.program_id(0), 1.0)


def meeting(x, wanted):
    y = torch.empty_like(x)
    arrivals = torch.zeros(1 + x.shape[0], dtype=torch.int32, device=x.device)
    sums = torch.empty(x.shape[0] * 4, device=x.device)
    meeting_kernel[(x.shape[0] * 4,)](x, sums, arrivals, y, block=x.shape[1] // 4, parts=4, wanted=wanted)
    return y


def hasty(x):
    y = torch.empty_like(x)
    arrivals = torch.zeros(1 + x.shape[0], dtype=torch.int32, device=x.device)
    sums = torch.empty(x.shape[0] * 4, device=x.device)
    hasty_kernel[(x.shape[0] * 4,)](x, sums, arrivals, y, block=x.shape[1] // 4, parts=4)
    return y


def crowd(y):
    crowd_kernel[(y.numel(),)](torch.zeros(1, dtype=torch.int32, device=y.device), y)
