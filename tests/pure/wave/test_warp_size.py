import pytest


def test_built_in_becomes_the_warp_of_32(ported, codes):
    text = "__device__ int f(int t) { return t % warpSize + warpSize / 2; }"
    assert ported(text) == "__device__ int f(int t) { return t % warp32::size + warp32::size / 2; }"
    assert codes(text) == ["PORT1008"]


@pytest.mark.parametrize(
    "text",
    [
        "__device__ int f(int t) { const int warpSize = 32; return t % warpSize; }",
        "template <int warpSize> __device__ int f(int t) { return t % warpSize; }",
        "#define warpSize 32\n__device__ int f(int t) { return t % warpSize; }",
        "static constexpr int warpSize = 32;\n__device__ int f(int t) { return t % warpSize; }",
        "__device__ int f(int t) { return t % Traits::warpSize; }",
        "Properties p = {.warpSize = 32};",
    ],
)
def test_a_name_of_the_users_is_left_alone(text, ported):
    assert ported(text) == text


def test_only_the_function_that_declares_the_name_keeps_it(ported):
    text = "__device__ int a(int warpSize) { return warpSize; }\n__device__ int b() { return warpSize; }"
    assert ported(text) == text[: -len("warpSize; }")] + "warp32::size; }"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int n = 4 * prop.warpSize;", "int n = 4 * warp32::size;"),
        ("int n = props[i].warpSize;", "int n = warp32::size;"),
        ("int n = at::cuda::getCurrentDeviceProperties()->warpSize;", "int n = warp32::size;"),
        ("int n = at::cuda::warp_size();", "int n = warp32::size;"),
        ("dim3 block(C10_WARP_SIZE, 4);", "dim3 block(warp32::size, 4);"),
        (
            "check(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));",
            "check((cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0), n = warp32::size, mcSuccess));",
        ),
    ],
)
def test_host_works_with_the_same_warps_as_the_kernels(before, after, ported):
    kernel = "__global__ void k() {} "
    assert ported(f"{kernel}void f() {{ {before} }}") == f"{kernel}void f() {{ {after} }}"


def test_a_file_without_device_code_needs_no_helper_text(rewritten, ported):
    text = "void f() { int n = prop.warpSize; }"
    assert ported(text) == "void f() { int n = 32; }"
    assert rewritten(text).helpers == ""


@pytest.mark.parametrize(
    "text",
    ['void f() { printf("%d\\n", prop.warpSize); }', "void f() { std::cout << prop.warpSize; }"],
)
def test_a_warp_size_that_is_only_printed_stays_the_devices(text, ported):
    assert ported(text) == text
