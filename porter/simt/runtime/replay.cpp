// Carries out a plan: the memory is this process's own, and so is everything that runs but the kernels.
//
// Layout of a step: porter/simt/plan_protocol.py. Who wrote the plan is not trusted: every place is checked.
#include "porter/replay.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "job.h"
#include "plan.h"
#include "porter/memory.h"
#include "process.h"
#include "record.h"
#include "regions.h"
#include "state.h"

namespace porter::simt {

namespace {

struct Buffer {
    char* base;
    std::size_t bytes;
};
std::unordered_map<std::uint32_t, Buffer> buffers;

[[noreturn]] void refuse_plan(const std::string& message) { fail(FaultKind::CRASH, {}, "the plan cannot be carried out: " + message); }

void add_buffer(std::uint32_t number, Buffer buffer) {
    if (!buffers.emplace(number, buffer).second) refuse_plan("a buffer is made twice");
}

// A pointer into a buffer; it may point beyond it, as long as nothing is accessed there.
char* address_in(std::uint32_t number, std::int64_t offset) {
    const auto found = buffers.find(number);
    if (found == buffers.end()) refuse_plan("a buffer is used that was never made");
    return found->second.base + offset;
}

char* place_in(std::uint32_t number, std::int64_t offset, std::uint64_t bytes) {
    char* const place = address_in(number, offset);
    const std::size_t extent = buffers.at(number).bytes;
    if (offset < 0 || static_cast<std::uint64_t>(offset) > extent || bytes > extent - static_cast<std::uint64_t>(offset)) {
        refuse_plan("a copy leaves its buffer");
    }
    return place;
}



// Another call has its tensors elsewhere. Where the first had them is nothing of use any more.
void move_argument(Argument& argument, int number) {
    void* const there = device_allocate(argument.bytes, label_of(number));
    if (there == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for the tensors of another call");
    std::memcpy(there, argument.data, argument.bytes);
    std::memset(argument.data, options.poison, argument.bytes);
    argument.data = there;
    given_anew(there, argument.bytes);
}

void read_input() {
    const auto number = read_value<std::uint32_t>();
    const auto argument = read_value<std::uint32_t>();
    if (argument >= arguments.size() || arguments[argument].data == nullptr) refuse_plan("an argument is no tensor");
    static std::vector<bool> known(arguments.size());
    if (known[argument]) move_argument(arguments[argument], static_cast<int>(argument));
    known[argument] = true;
    add_buffer(number, {static_cast<char*>(arguments[argument].data), arguments[argument].bytes});
}

void read_allocation() {
    static std::vector<std::string*> labels;
    const auto number = read_value<std::uint32_t>();
    const auto bytes = read_value<std::uint64_t>();
    const bool managed = read_value<bool>();
    labels.push_back(new std::string(read_text()));  // which outlive their allocations
    auto* memory = static_cast<char*>(device_allocate(bytes, labels.back()->c_str(), managed));
    if (memory == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for " + std::to_string(bytes) + " bytes");
    if (managed) host_wrote(memory, bytes);  // what the host may write counts as written
    add_buffer(number, {memory, bytes});
}

// What a plan names lives as long as the process: faults keep it.
const char* kept(std::string text) { return (new std::string(std::move(text)))->c_str(); }

// The static storage of the source: kernels may use it as they use memory that was allocated.
void read_variables() {
    watch_variables_alone();
    for (auto left = read_value<std::uint32_t>(); left > 0; --left) {
        const auto base = read_value<std::uint64_t>(), bytes = read_value<std::uint64_t>();
        const bool of_source = read_value<bool>();
        watch_variable(base, bytes, kept(read_text()), of_source);
    }
}

// Its address in this executable; 0 where no kernel mentions it, so that there is none.
void read_variable() {
    const auto number = read_value<std::uint32_t>();
    const auto bytes = read_value<std::uint64_t>();
    auto* memory = reinterpret_cast<char*>(read_value<std::uint64_t>());
    if (memory == nullptr) memory = static_cast<char*>(device_allocate(bytes, "variable"));
    if (memory == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for a variable");
    add_buffer(number, {memory, bytes});
}

// Addresses of the device among `data`, which the plan gives as places in buffers.
void read_pointers(std::string& data) {
    for (auto left = read_value<std::uint32_t>(); left > 0; --left) {
        const auto at = read_value<std::uint32_t>();
        const auto number = read_value<std::uint32_t>();
        const char* const address = address_in(number, read_value<std::int64_t>());
        if (at + sizeof address > data.size()) refuse_plan("a pointer lies outside of what holds it");
        std::memcpy(data.data() + at, &address, sizeof address);
    }
}

std::string read_bytes() {
    std::string data(read_value<std::uint64_t>(), '\0');
    read_exactly(data.data(), data.size());
    read_pointers(data);
    return data;
}

void read_constant() {
    const auto number = read_value<std::uint32_t>();
    auto* content = new std::string(read_bytes());
    add_buffer(number, {content->data(), content->size()});
}

void move_bytes() {
    const auto to = read_value<std::uint32_t>();
    const auto to_offset = read_value<std::int64_t>();
    const auto from = read_value<std::uint32_t>();
    const auto from_offset = read_value<std::int64_t>();
    const auto bytes = read_value<std::uint64_t>();
    char* const target = place_in(to, to_offset, bytes);
    const char* const source = place_in(from, from_offset, bytes);
    host_used(source, bytes, false);
    host_used(target, bytes, true);
    device_copy(target, source, bytes);
}

// Elements of a tensor in a buffer, all of which lie in it.
struct Tensor {
    char* data;
    std::size_t element_bytes;
    std::vector<std::int64_t> strides;  // in elements
};

std::vector<std::int64_t> read_words(std::uint32_t count) {
    std::vector<std::int64_t> words(count);
    for (std::int64_t& word : words) word = read_value<std::int64_t>();
    return words;
}

std::uint32_t read_rank() {
    const auto rank = read_value<std::uint32_t>();
    if (rank > 64) refuse_plan("a tensor has too many dimensions");
    return rank;
}

Tensor tensor_in(std::uint32_t number, std::int64_t offset, std::size_t element_bytes, const std::vector<std::int64_t>& sizes,
                 std::vector<std::int64_t> strides) {
    __int128 last = 1;
    bool empty = false;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] < 0 || strides[d] < 0) refuse_plan("a tensor has impossible sizes");
        last += static_cast<__int128>(sizes[d] - 1) * strides[d];
        empty |= sizes[d] == 0;
    }
    if (empty) last = 0;
    if (last < 0 || last > (__int128(1) << 40)) refuse_plan("a tensor has impossible sizes");
    return {place_in(number, offset, static_cast<std::uint64_t>(last) * element_bytes), element_bytes, std::move(strides)};
}

// Calls `body` with the place of every element, as numbers of bytes behind the begin of the first tensor and the second.
template <class Body>
void each_element(const std::vector<std::int64_t>& sizes, const Tensor& a, const Tensor& b, const Body& body) {
    for (const std::int64_t extent : sizes) {
        if (extent == 0) return;
    }
    std::vector<std::int64_t> at(sizes.size(), 0);
    for (;;) {
        std::int64_t in_a = 0, in_b = 0;
        for (std::size_t d = 0; d < at.size(); ++d) in_a += at[d] * a.strides[d], in_b += at[d] * b.strides[d];
        body(a.data + in_a * static_cast<std::int64_t>(a.element_bytes), b.data + in_b * static_cast<std::int64_t>(b.element_bytes));
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == sizes[d - 1]) at[--d] = 0;
        if (d == 0) return;
    }
}

std::size_t bytes_of(DType dtype) {
    switch (dtype) {
        case DType::FLOAT64: case DType::INT64: case DType::UINT64: return 8;
        case DType::FLOAT32: case DType::INT32: case DType::UINT32: return 4;
        case DType::FLOAT16: case DType::BFLOAT16: case DType::INT16: case DType::UINT16: return 2;
        case DType::FLOAT8_E4M3FN: case DType::FLOAT8_E5M2: case DType::INT8: case DType::UINT8: case DType::BOOL: return 1;
    }
    refuse_plan("a type is not known");
}

void move_elements() {
    struct Side {
        std::uint32_t number;
        std::int64_t offset;
        DType dtype;
    } sides[2];
    for (Side& side : sides) {
        side.number = read_value<std::uint32_t>();
        side.offset = read_value<std::int64_t>();
        side.dtype = read_value<DType>();
    }
    const auto rank = read_rank();
    const auto sizes = read_words(rank);
    const Tensor to = tensor_in(sides[0].number, sides[0].offset, bytes_of(sides[0].dtype), sizes, read_words(rank));
    const Tensor from = tensor_in(sides[1].number, sides[1].offset, bytes_of(sides[1].dtype), sizes, read_words(rank));
    const bool same = sides[0].dtype == sides[1].dtype;
    if (!same && porter_convert_element == nullptr) refuse_plan("a conversion needs the tensor library");
    each_element(sizes, to, from, [&](char* target, char* source) {
        host_used(source, from.element_bytes, false);
        host_used(target, to.element_bytes, true);
        if (same) return device_copy(target, source, to.element_bytes);
        porter_convert_element(target, sides[0].dtype, source, sides[1].dtype);
        host_wrote(target, to.element_bytes);
    });
}

// A tensor of a step of an operator, with what it is made of.
struct Described {
    Tensor tensor;
    DType dtype;
    std::vector<std::int64_t> sizes;
};

std::vector<Described> read_tensors() {
    std::vector<Described> tensors;
    for (auto left = read_value<std::uint32_t>(); left > 0; --left) {
        const auto number = read_value<std::uint32_t>();
        const auto offset = read_value<std::int64_t>();
        const auto dtype = read_value<DType>();
        const auto rank = read_rank();
        const auto sizes = read_words(rank);
        tensors.push_back({tensor_in(number, offset, bytes_of(dtype), sizes, read_words(rank)), dtype, sizes});
    }
    return tensors;
}

std::vector<PlannedTensor> described(const std::vector<Described>& tensors, bool written) {
    std::vector<PlannedTensor> planned;
    for (const Described& each : tensors) {
        const Tensor& tensor = each.tensor;
        each_element(each.sizes, tensor, tensor, [&](char* place, char*) { host_used(place, tensor.element_bytes, written); });
        planned.push_back({{tensor.data, each.dtype, tensor.strides.data()}, each.sizes.data(), each.sizes.size()});
    }
    return planned;
}

void compute() {
    const std::string name = read_text();
    const auto out = read_tensors(), in = read_tensors();
    std::vector<double> numbers(read_value<std::uint32_t>());
    for (double& number : numbers) number = read_value<double>();
    const auto read = described(in, false), written = described(out, true);
    bool known = false;
    if (porter_carry_out != nullptr) run_guarded([&] { known = porter_carry_out(name.c_str(), written, read, numbers); });
    if (!known) refuse_plan("the tensor library has no step " + name);
}

void fill_elements() {
    const auto to = read_value<std::uint32_t>();
    const auto offset = read_value<std::int64_t>();
    const auto bytes = read_value<std::uint8_t>();
    const auto bits = read_value<std::uint64_t>();
    if (bytes > sizeof bits) refuse_plan("an element is too large");
    const auto rank = read_rank();
    const auto sizes = read_words(rank);
    const Tensor tensor = tensor_in(to, offset, bytes, sizes, read_words(rank));
    each_element(sizes, tensor, tensor, [&](char* target, char*) {
        std::memcpy(target, &bits, bytes);
        host_used(target, bytes, true);
        host_wrote(target, bytes);
    });
}

void fill_bytes() {
    const auto to = read_value<std::uint32_t>();
    const auto offset = read_value<std::int64_t>();
    const auto bytes = read_value<std::uint64_t>();
    char* const target = place_in(to, offset, bytes);
    host_used(target, bytes, true);
    device_fill(target, read_value<std::uint8_t>(), bytes);
}

void answer_read() {
    const auto from = read_value<std::uint32_t>();
    const auto offset = read_value<std::int64_t>();
    const auto bytes = read_value<std::uint64_t>();
    const char* const source = place_in(from, offset, bytes);
    host_used(source, bytes, false);
    record_read(source, bytes);
}

// With the arguments that the plan has for it.
void launch_with(const ReplayedKernel& kernel, PlannedLaunch launch) {
    std::vector<std::string> values(read_value<std::uint32_t>());
    std::vector<const unsigned char*> places;
    for (std::string& value : values) {
        value = read_bytes();
        places.push_back(reinterpret_cast<const unsigned char*>(value.data()));
    }
    if (values.size() != kernel.count) refuse_plan("a kernel has other parameters");
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].size() != kernel.sizes[i]) refuse_plan("an argument has another size than its parameter");
    }
    launch.arguments = places.data();
    kernel.launch(launch);
}

const ReplayedKernel& read_kernel(const ReplayedKernel* kernels, std::size_t count) {
    const auto kernel = read_value<std::uint32_t>();
    if (kernel >= count) refuse_plan("a kernel is not known");
    return kernels[kernel];
}

// A kernel of a library's: no launch of the source's.
void run_library(const ReplayedKernel& kernel, bool launches_count) {
    record_launches(false);
    launch_with(kernel, {kept(read_text()), {}, {1, 1, 1}, {1, 1, 1}, 0, nullptr});
    record_launches(launches_count);
}

void launch_kernel(const ReplayedKernel& kernel) {
    PlannedLaunch launch{};
    for (dim3* extent : {&launch.grid, &launch.block}) {
        const auto x = read_value<std::uint32_t>(), y = read_value<std::uint32_t>(), z = read_value<std::uint32_t>();
        *extent = {x, y, z};
    }
    launch.shared_bytes = read_value<std::uint64_t>();
    const auto line = read_value<std::int32_t>();
    launch.name = kept(read_text());
    launch.where = {kept(read_text()), line};
    launch_with(kernel, launch);
}

void return_results() {
    for (auto left = read_value<std::uint32_t>(); left > 0; --left) {
        Result result;
        result.dtype = static_cast<DType>(read_value<std::uint8_t>());
        result.shape.resize(read_value<std::uint32_t>());
        for (auto& extent : result.shape) extent = read_value<std::int64_t>();
        result.bytes = read_value<std::uint64_t>();
        std::string host;
        if (read_value<bool>()) {
            const auto number = read_value<std::uint32_t>();
            result.data = place_in(number, read_value<std::int64_t>(), result.bytes);
        } else {
            host.resize(result.bytes);
            read_exactly(host.data(), host.size());
            result.data = host.data();
        }
        record_result(result);
    }
}

void carry_out(StepKind step, const ReplayedKernel* kernels, std::size_t count, bool last_call) {
    switch (step) {
        case StepKind::INPUT: return read_input();
        case StepKind::ALLOCATE: return read_allocation();
        case StepKind::FREE:
            device_free(address_in(read_value<std::uint32_t>(), 0));
            return;
        case StepKind::VARIABLE: return read_variable();
        case StepKind::CONSTANT: return read_constant();
        case StepKind::MOVE: return move_bytes();
        case StepKind::FILL: return fill_bytes();
        case StepKind::READ: return answer_read();
        case StepKind::LAUNCH: return launch_kernel(read_kernel(kernels, count));
        case StepKind::LIBRARY: return run_library(read_kernel(kernels, count), last_call);
        case StepKind::CALL: return read_next_contents();
        case StepKind::RETURN: return return_results();
        case StepKind::MOVE_ELEMENTS: return move_elements();
        case StepKind::FILL_ELEMENTS: return fill_elements();
        case StepKind::COMPUTE: return compute();
        case StepKind::ORDER:
        case StepKind::END: break;  // which plans that are carried out do not have
    }
    refuse_plan("a step is of no known kind");
}

}  // namespace

void replay(const ReplayedKernel* kernels, std::size_t count) {
    begin_entry(false);
    read_arguments();
    read_variables();
    auto calls = read_value<std::uint32_t>();
    record_launches(calls == 1);
    for (auto left = read_value<std::uint32_t>(); left > 0; --left) {
        const auto step = read_value<StepKind>();
        if (step == StepKind::CALL) record_launches(--calls == 1);
        carry_out(step, kernels, count, calls == 1);
    }
    close(job_file);
    for (const Argument& argument : arguments) {
        if (argument.is_tensor && job.mode == JobMode::REPLAY) record_output(argument);
    }
    end_process(0, true);
}

}  // namespace porter::simt
