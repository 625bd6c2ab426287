// A launch: the device's limits, then block after block.
#include "porter/launch.h"

#include <algorithm>
#include <numeric>

#include "record.h"
#include "plan.h"
#include "printing.h"
#include "process.h"
#include "sample.h"
#include "state.h"

namespace porter::simt {

uint3 block_index __asm__("porter_block_index");
dim3 block_extent __asm__("porter_block_extent");
dim3 grid_extent __asm__("porter_grid_extent");

Options options;

namespace {

int error = SUCCESS;

constexpr unsigned MAX_GRID_YZ = 65535;
constexpr unsigned MAX_BLOCK_Z = 64;

std::string text(dim3 d) { return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z); }

std::size_t opted_in = 0;  // the most dynamic shared memory that an attribute of any kernel says

int refuse(int code, Where where, const std::string& message) {
    note(FaultKind::LAUNCH, where, message);
    error = code;
    return code;
}

int check_limits(dim3 grid, dim3 extent, std::size_t shared_bytes, Where where) {
    const std::uint64_t size = std::uint64_t(extent.x) * extent.y * extent.z;
    if (size == 0 || size > static_cast<std::uint64_t>(options.max_threads) || extent.z > MAX_BLOCK_Z) {
        return refuse(INVALID_CONFIGURATION, where,
                      "a block of " + text(extent) + " threads; the device takes 1 to " + std::to_string(options.max_threads));
    }
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ) {
        return refuse(INVALID_CONFIGURATION, where, "a grid of " + text(grid) + " blocks");
    }
    if (shared_bytes > std::max(options.shared_bytes, opted_in) && shared_bytes <= options.dynamic_shared_bytes) {
        return refuse(INVALID_VALUE, where,
                      std::to_string(shared_bytes) + " bytes of dynamic shared memory; a launch has " +
                          std::to_string(options.shared_bytes) + " unless an attribute of its kernel says more");
    }
    if (shared_bytes > options.dynamic_shared_bytes) {
        return refuse(INVALID_VALUE, where,
                      std::to_string(shared_bytes) + " bytes of dynamic shared memory; the device has " +
                          std::to_string(options.dynamic_shared_bytes));
    }
    return SUCCESS;
}

// The n-th block to run, as `offset + n * step` modulo the number of blocks.
struct BlockOrder {
    std::uint64_t count, step, offset;

    explicit BlockOrder(std::uint64_t blocks) : count(blocks), step(1), offset(0) {
        if (options.schedule == Schedule::REVERSE) {
            step = count - 1;
            offset = count - 1;
        } else if (options.schedule == Schedule::SHUFFLED) {
            offset = options.seed % count;
            step = count / 2 + options.seed % 7;
            while (std::gcd(step, count) != 1) ++step;
        }
    }
    std::uint64_t operator[](std::uint64_t n) const {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(n) * step + offset) % count);
    }
};

int run_blocks(dim3 grid, dim3 extent, std::size_t shared_bytes, Body body, const void* context) {
    const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
    const BlockOrder order(blocks);
    grid_extent = grid;
    block_extent = extent;
    watch_new_grid();
    const std::uint64_t middle = (std::uint64_t(grid.z / 2) * grid.y + grid.y / 2) * grid.x + grid.x / 2;
    for (std::uint64_t n = 0; n < (sampling() ? 1 : blocks); ++n) {
        const std::uint64_t number = sampling() ? middle : order[n];
        block_index = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
        block = {};
        block.extent = extent;
        block.threads = block.live = int(extent.x * extent.y * extent.z);
        block.warps = (block.threads + warp_width - 1) / warp_width;
        block.clock = block.floor = 1;
        if (n == 0 || options.schedule == Schedule::SHUFFLED) order_threads(number);
        watch_new_block();
        watch_dynamic_shared(shared_bytes);
        if (sampling()) sample_new_block();
        const bool ended = run_block(body, context);
        watch_block_end();
        if (sampling()) sample_block_end(shared_in_use());
        if (!ended) return error = INVALID_VALUE;
    }
    return SUCCESS;
}

}  // namespace

int run_grid(const char* name, dim3 grid, dim3 extent, std::size_t shared_bytes, Where where, Body body, const void* context) {
    if (current != nullptr) {
        fail(FaultKind::UNKNOWN, where,
             std::string("`") + name + "` is launched by `" + current_kernel +
                 "`, which was launched itself: a launch by what runs on the device is not modelled");
    }
    current_kernel = name;
    record_launch(name, grid, extent, shared_bytes, where);
    int result = check_limits(grid, extent, shared_bytes, where);
    if (planning()) {
        if (result == SUCCESS) plan_launch(name, grid, extent, shared_bytes, where, body, context);
        current_kernel = "";
        return result;
    }
    if (result == SUCCESS) result = run_blocks(grid, extent, shared_bytes, body, context);
    print_launch();
    take_snapshot();
    current_kernel = "";
    return result;
}

int last_error() { return error; }
int take_last_error() {
    const int taken = error;
    error = SUCCESS;
    return taken;
}
void set_last_error(int code) { error = code; }

void opt_in_dynamic_shared(std::size_t bytes) { opted_in = std::max(opted_in, bytes); }
std::size_t dynamic_shared_limit() { return options.dynamic_shared_bytes; }
std::size_t static_shared_limit() { return options.shared_bytes; }
int claimed_warp_size() { return options.claimed_warp_size; }
int thread_limit() { return options.max_threads; }

}  // namespace porter::simt
