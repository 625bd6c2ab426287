"""Each rule has a cheat that breaks it and an honest look-alike that does not."""

from pathlib import Path

import pytest

from porter.rules.original import NO_CODE, OwnCode
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca.catalogue import catalogue
from porter_maca.device import substitutes
from porter_maca.rules import rules

HEAD = "#include <mcr/mc_runtime.h>\n#include <dlfcn.h>\n__global__ void k(float* x) { *x = 1; }\n"


def broken(text, original=None):
    own = NO_CODE if original is None else OwnCode.of(parse(Source(Path("op.cu"), original)))
    return {finding.code for finding in rules((Source(Path("op.cpp"), text),), own)}


CHEATS = [
    ("PORT1192", "void f(float* x) { mcblasSgemm(h, 0, 0, 1, 1, 1, x, x, 1, x, 1, x, x, 1); }"),
    ("PORT1192", "void f(float* x) { mccub::DeviceReduce::Sum(t, n, x, x, 1); }"),
    ("PORT1192", "at::Tensor f(at::Tensor x) { return at::softmax(x, -1); }"),
    ("PORT1193", "__attribute__((constructor)) void early() {}"),
    ("PORT1193", "[[gnu::constructor]] void early() {}"),
    ("PORT1193", "void f() { std::atexit(early); }"),
    ("PORT1194", 'void f() { dlsym(nullptr, "x"); }'),
    ("PORT1194", "#define LEAVE _exit\nvoid f() { LEAVE(0); }"),
    ("PORT1194", "void f() { syscall(231, 0); }"),
    ("PORT1194", 'void f() { std::ifstream in("answers"); }'),
    ("PORT1195", "namespace porter { namespace simt { void end_process(int, bool); } }"),
    ("PORT1195", 'void leave(int, bool) __asm__("_ZN6porter4simt11end_processEib");'),
    ("PORT1195", "#ifdef PORTER_WARP_SIZE\n#endif"),
    ("PORT1195", 'const char* place = "/proc/self/mem";'),
    ("PORT1195", "#if __GNUC__ > 4\n#endif"),
    ("PORT1195", 'void f() { if (std::strstr(__PRETTY_FUNCTION__, "[with")) g(); }'),
    ("PORT1195", "__global__ void k(float* x) {\n#ifdef __x86_64__\n*x = 1;\n#endif\n}"),
    ("PORT1195", "#define TEXT(x) #x\n#define NOW(x) TEXT(x)\nbool f() { return sizeof(NOW(__global__)) > 5; }"),
    ("PORT1195", "#define TEXT(x) #x\n#define NOW(x) TEXT(x)\nbool f() { return NOW(mcMalloc)[0] == 'c'; }"),
    (
        "PORT1195",
        "#define TEXT(x) #x\n#define NOW(...) TEXT(__VA_ARGS__)\nbool f() { return sizeof(NOW(INFINITY)) > 9; }",
    ),
    (
        "PORT1195",
        "#define BOTH(...) __VA_ARGS__ char t[] = #__VA_ARGS__;\nBOTH(__global__ void m(float* x) { *x = 2; })",
    ),
    ("PORT1195", "#define RUN(...) __VA_ARGS__; puts(#__VA_ARGS__)\nvoid f(float* x) { RUN(k<<<1, 1>>>(x)); }"),
    ("PORT1196", "void f() { std::thread t(g); }"),
    ("PORT1197", 'bool f() { return std::getenv("CI"); }'),
]


@pytest.mark.parametrize("row", substitutes(), ids=lambda row: row.replacement)
def test_what_a_port_of_porters_brings_along_breaks_none(row):
    assert not broken(HEAD + row.helper)


@pytest.mark.parametrize(("code", "cheat"), CHEATS)
def test_a_cheat_breaks_its_rule(code, cheat):
    assert code in broken(HEAD + cheat)


@pytest.mark.parametrize(
    "text",
    [
        "void f(float* x) { k<<<1, 1>>>(x); }",
        "#define CHECK(call) if (call != mcSuccess) puts(#call)\nvoid f(float* x) { CHECK(mcFree(x)); }",
        "#define TEXT(x) #x\n#define NOW(x) TEXT(x)\n#define TILE 32\nauto f() { return NOW(TILE) NOW(__LINE__); }",
        "#define TEXT(x) #x\nvoid g(const char*);\nvoid f() { g(TEXT(float)); g(TEXT(k)); }",
        '#define LOG(g) printf("k<<<%d>>> of %s", g, #g)\nvoid f(int blocks) { LOG(blocks); }',
        "void f(float* x) { if (mcGetLastError() != mcSuccess) exit(EXIT_FAILURE); }",
        "int open(int fd) { return fd; } void f() { open(1); }",
        "void f(File& file) { file.open(); file->signal(2); }",
        "__attribute__((aligned(16))) struct A { float x[4]; };",
        "void f(int kill, int thread) { thread = kill + std::this_thread::get_id() == id; }",
        "__device__ float s(float* x) { return mccub::BlockReduce<float, 64>(t).Sum(*x); }",
        "// dlsym(porter)\nvoid f() {}",
        '#ifdef __clang__\nvoid f() { std::printf("%s:%d %s", __FILE__, __LINE__, __func__); }\n#endif',
    ],
)
def test_an_honest_look_alike_breaks_none(text):
    assert broken(HEAD + text) == set()


@pytest.mark.parametrize("port", sorted(Path(__file__).parent.glob("golden/*.maca.cu")), ids=lambda port: port.name)
def test_ports_of_porter_break_none(port):
    assert broken(port.read_text()) == set()


def test_what_the_original_calls_is_free():
    cheat = HEAD + "void f(float* x) { mcblasSgemm(h, 0, 0, 1, 1, 1, x, x, 1, x, 1, x, x, 1); }"
    assert broken(cheat, "void f(float* x) { cublasSgemm(h, x); }") == set()
    assert broken(cheat, "void f(float* x) { cublas_free(x); }") == {"PORT1192"}


def test_every_rule_is_explained():
    assert {code for code, _ in CHEATS} <= catalogue().keys()
