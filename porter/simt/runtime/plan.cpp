// The recorder of a launch plan. Layout of a step: porter/simt/plan_protocol.py.
#include "plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "job.h"
#include "porter/hand_over.h"
#include "porter/memory.h"
#include "process.h"
#include "record.h"
#include "state.h"
#include "streams.h"

namespace porter::simt {

bool planning() { return job.mode == JobMode::PLAN; }

namespace {

constexpr std::size_t MOST_STEPS = 50'000, MOST_BYTES = 64 << 20;
constexpr std::uint32_t FIRST_CONSTANT = 1u << 24;  // constants are no allocations, and have numbers of their own
std::uint32_t constants = 0;
std::vector<std::string> answers;
std::size_t answered = 0;

// A step that is being written.
class StepText {
public:
    explicit StepText(StepKind kind) { put(kind); }
    template <class T>
    StepText& put(T value) { return put(&value, sizeof value); }
    StepText& put(const void* data, std::size_t bytes) { return text_.append(static_cast<const char*>(data), bytes), *this; }
    StepText& put_text(const char* text) { return put(static_cast<std::uint32_t>(std::strlen(text))).put(text, std::strlen(text)); }
    void record() const {
        count();
        record_step(text_.data(), text_.size());
    }
    // As work of the device, on the stream that it is asked for at, or when the host itself comes to it.
    Moment work(bool by_host = false) const {
        count();
        return record_work(text_, by_host);
    }

private:
    void count() const {
        static std::size_t steps = 0, bytes = 0;
        if (++steps > MOST_STEPS) fail(FaultKind::RESOURCE, {}, "host code asks for more than " + std::to_string(MOST_STEPS) + " steps of the device");
        if ((bytes += text_.size()) > MOST_BYTES) fail(FaultKind::RESOURCE, {}, "host code hands the device more than " + std::to_string(MOST_BYTES >> 20) + " MiB");
    }

    std::string text_;
};

struct Location {
    Region* region = nullptr;  // null: memory of the host
    std::uint32_t buffer = 0;
    std::int64_t offset = 0;
};

Location locate(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Region* region = find_allocation(address);
    if (region == nullptr || !region->live) return {};
    return {region, buffer_of(*region), static_cast<std::int64_t>(address - region->base)};
}

Moment put_move(Location to, std::uint32_t from, std::int64_t from_offset, std::size_t bytes, bool by_host = false) {
    return StepText(StepKind::MOVE).put(to.buffer).put(to.offset).put(from).put(from_offset).put(std::uint64_t(bytes)).work(by_host);
}

Moment put_constant(Location to, const void* data, std::size_t bytes, bool by_host = false) {
    const std::uint32_t number = FIRST_CONSTANT + constants++;
    StepText(StepKind::CONSTANT).put(number).put(std::uint64_t(bytes)).put(data, bytes).record();
    return put_move(to, number, 0, bytes, by_host);
}

bool names_itself = false;  // a step of its own tells of what is being allocated

// The host's view of managed memory. While it is `held`, its pages are the host's, and `uploaded` is what the device has;
// a kernel that was given the address takes it away. The host has to wait for `taken`, the work that took it, before it
// looks there, and for `read`, which copies it, before it writes.
struct Managed {
    bool held = true, given = false;
    std::string uploaded;
    Moment taken, read;
};
std::map<std::uint32_t, Managed> managed_memory;  // by buffer

void upload(const Region& region, Managed& view) {
    if (!view.held) return;
    const auto* now = reinterpret_cast<const char*>(region.base);
    if (view.uploaded.size() == region.bytes && std::memcmp(view.uploaded.data(), now, region.bytes) == 0) return;
    view.uploaded.assign(now, region.bytes);
    put_constant({const_cast<Region*>(&region), buffer_of(region), 0}, now, region.bytes, true);
}

void take_away(const Region& region, Managed& view, const Moment& by) {
    view.held = false;
    view.taken = by;
    view.read = {};
    mprotect(reinterpret_cast<void*>(region.base), region.bytes, PROT_NONE);
}

bool was_reset = false;  // in this call

// Addresses of managed memory, and of arguments, among the bytes that a kernel is given.
void mark_given(const void* data, std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, static_cast<const char*>(data) + at, sizeof word);
        Region* const region = find_allocation(word);
        if (region == nullptr || !region->live) continue;
        if (region->managed) managed_memory[buffer_of(*region)].given = true;
        if (region->given) use_argument(*region, true);
    }
}

void upload_all() {
    for (auto& [buffer, view] : managed_memory) {
        if (allocation(static_cast<int>(buffer)).live) upload(allocation(static_cast<int>(buffer)), view);
    }
}

// A copy reads what the host must not change before it is done.
void lend(const Region& region, Managed& view, const Moment& by) {
    if (!view.held) return;
    view.read = by;
    mprotect(reinterpret_cast<void*>(region.base), region.bytes, PROT_READ);
}

void take_away_given(const Moment& by) {
    for (auto& [buffer, view] : managed_memory) {
        const Region& region = allocation(static_cast<int>(buffer));
        if (region.live && view.given && view.held) take_away(region, view, by);
    }
}

// What the host reads is in the next answer; where there is none, the plan ends here for now.
void ask(Location from, void* to, std::size_t bytes, bool by_host) {
    StepText(StepKind::READ).put(from.buffer).put(from.offset).put(std::uint64_t(bytes)).work(by_host);
    if (!by_host) host_waits_for_work();
    if (answered == answers.size()) end_process(ASKS, false);
    const std::string& answer = answers[answered++];
    if (answer.size() != bytes) fail(FaultKind::CRASH, {}, "an answer is not as long as what was asked");
    std::memcpy(to, answer.data(), bytes);
}

struct Launching {
    const char* name;
    dim3 grid, block;
    std::size_t shared_bytes;
    Where where;
    const void* const* written;  // what a library's kernel writes, null for a kernel of the source
    std::size_t written_count;
};
const Launching* launching = nullptr;
bool arguments_came = false;
Moment launched_at;

}  // namespace

void read_answers() {
    answers.resize(read_value<std::uint32_t>());
    for (std::string& answer : answers) {
        answer.resize(read_value<std::uint64_t>());
        read_exactly(answer.data(), answer.size());
    }
}

void* plan_input(int argument, std::size_t bytes, const char* label) {
    names_itself = true;
    void* const data = device_allocate(bytes, label);
    names_itself = false;
    const Location at = locate(data);
    if (data != nullptr) at.region->given = true;
    if (data != nullptr) StepText(StepKind::INPUT).put(at.buffer).put(std::uint32_t(argument)).put(at.region->base).put(std::uint64_t(at.region->bytes)).record();
    return data;
}

void plan_allocation(const Region& region) {
    if (region.managed) managed_memory[buffer_of(region)] = {};
    if (names_itself) return;
    StepText step(StepKind::ALLOCATE);
    step.put(buffer_of(region)).put(region.base).put(std::uint64_t(region.bytes)).put(region.managed).put_text(region.label).record();
}

void plan_free(const Region& region) {
    if (region.managed) managed_memory.erase(buffer_of(region));
    StepText(StepKind::FREE).put(buffer_of(region)).record();
}

void plan_reset() {
    was_reset = true;
    for (int i = 0; i < allocation_count(); ++i) {
        if (Region& region = allocation(i); region.given && region.as_device) use_argument(region, true);
    }
}

void use_argument(Region& region, bool as_device) {
    (as_device ? region.as_device : region.as_host) = true;
    const std::string label = std::string("`") + region.label + "`";
    if (region.as_device && region.as_host) fail(FaultKind::HOST_CHECK, {}, label + " is used as memory of the device and as memory of the host");
    if (region.as_device && was_reset) fail(FaultKind::HOST_CHECK, {}, label + " is memory of the device, which host code resets");
}

void plan_copy(void* to, const void* from, std::size_t bytes) {
    const Location target = locate(to), source = locate(from);
    for (const Location& each : {target, source}) {
        if (each.region != nullptr && each.region->managed) upload(*each.region, managed_memory[each.buffer]);
    }
    const bool held = source.region != nullptr && source.region->managed && managed_memory[source.buffer].held;
    if (target.region == nullptr) {
        if (source.region == nullptr || held) std::memmove(to, from, bytes);
        else ask(source, to, bytes, false);
        return;
    }
    if (source.region == nullptr) mark_given(from, bytes);
    const Moment moment = source.region == nullptr ? put_constant(target, from, bytes)
                                                   : put_move(target, source.buffer, source.offset, bytes);
    if (source.region != nullptr && source.region->managed) lend(*source.region, managed_memory[source.buffer], moment);
    if (target.region->managed) take_away(*target.region, managed_memory[target.buffer], moment);
}

void plan_fill(void* to, int byte, std::size_t bytes) {
    const Location target = locate(to);
    if (target.region == nullptr) {
        std::memset(to, byte, bytes);
        return;
    }
    if (target.region->managed) upload(*target.region, managed_memory[target.buffer]);
    const Moment moment = StepText(StepKind::FILL).put(target.buffer).put(target.offset).put(std::uint64_t(bytes)).put(std::uint8_t(byte)).work();
    if (target.region->managed) take_away(*target.region, managed_memory[target.buffer], moment);
}

namespace {

// What the device is about to change: what the host holds of it is given up, and is the device's `by` that work.
void leave_to_device(const Location& at) {
    if (at.region->managed) upload(*at.region, managed_memory[at.buffer]);
}
void left_to_device(const Location& at, const Moment& by) {
    if (at.region->managed) take_away(*at.region, managed_memory[at.buffer], by);
}

void put_words(StepText& step, const std::int64_t* words, std::size_t count) { step.put(words, count * sizeof *words); }

}  // namespace

void plan_move_elements(const Elements& to, const Elements& from, const std::int64_t* sizes, std::size_t rank) {
    const Location target = locate(to.data), source = locate(from.data);
    if (source.region->managed) upload(*source.region, managed_memory[source.buffer]);
    leave_to_device(target);
    StepText step(StepKind::MOVE_ELEMENTS);
    step.put(target.buffer).put(target.offset).put(to.dtype).put(source.buffer).put(source.offset).put(from.dtype);
    step.put(static_cast<std::uint32_t>(rank));
    for (const std::int64_t* words : {sizes, to.strides, from.strides}) put_words(step, words, rank);
    left_to_device(target, step.work());
}

void plan_fill_elements(const Elements& to, const void* element, std::size_t bytes, const std::int64_t* sizes, std::size_t rank) {
    const Location target = locate(to.data);
    leave_to_device(target);
    std::uint64_t bits = 0;
    std::memcpy(&bits, element, bytes);
    StepText step(StepKind::FILL_ELEMENTS);
    step.put(target.buffer).put(target.offset).put(static_cast<std::uint8_t>(bytes)).put(bits).put(static_cast<std::uint32_t>(rank));
    for (const std::int64_t* words : {sizes, to.strides}) put_words(step, words, rank);
    left_to_device(target, step.work());
}

namespace {

// The location of a tensor; an empty one is nowhere, and told to be where `other` is.
Location locate(const PlannedTensor& tensor, const PlannedTensor& other) {
    return locate(tensor.elements.data != nullptr ? tensor.elements.data : other.elements.data);
}

void put_tensors(StepText& step, const std::vector<PlannedTensor>& tensors, const PlannedTensor& other) {
    step.put(static_cast<std::uint32_t>(tensors.size()));
    for (const PlannedTensor& tensor : tensors) {
        const Location at = locate(tensor, other);
        step.put(at.buffer).put(at.offset).put(tensor.elements.dtype).put(static_cast<std::uint32_t>(tensor.rank));
        put_words(step, tensor.sizes, tensor.rank), put_words(step, tensor.elements.strides, tensor.rank);
    }
}

}  // namespace

void plan_step(const char* name, const std::vector<PlannedTensor>& out, const std::vector<PlannedTensor>& in,
               const std::vector<double>& numbers) {
    const PlannedTensor& some = *std::find_if(out.begin(), out.end(), [](const PlannedTensor& each) { return each.elements.data != nullptr; });
    for (const auto* tensors : {&out, &in}) {
        for (const PlannedTensor& tensor : *tensors) leave_to_device(locate(tensor, some));
    }
    StepText step(StepKind::COMPUTE);
    step.put(frames_here()).put_text(name);
    put_tensors(step, out, some), put_tensors(step, in, some);
    step.put(static_cast<std::uint32_t>(numbers.size())).put(numbers.data(), numbers.size() * sizeof(double));
    const Moment moment = step.work();
    for (const PlannedTensor& tensor : out) left_to_device(locate(tensor, some), moment);
}

void plan_library(const void* data) {
    const UnwatchedScope library;
    static_cast<void>(*static_cast<const volatile char*>(data));  // the handler of its fault knows the line
}

bool plan_fetch(std::uintptr_t address) {
    const Location at = locate(reinterpret_cast<const void*>(address));
    const auto found = at.region == nullptr ? managed_memory.end() : managed_memory.find(at.buffer);
    if (found == managed_memory.end() || at.offset >= static_cast<std::int64_t>(at.region->bytes)) return false;
    Managed& view = found->second;
    if (!host_knows(view.held ? view.read : view.taken)) {
        const char* who = view.held ? "host code changes memory that a copy may still read: no wait for its stream came before"
                                    : "host code looks at memory that a stream may still work on: no wait for it came before";
        fail(FaultKind::RACE, {}, who);
    }
    if (view.held) {
        if (view.read.time == 0) return false;
        view.read = {};
        return mprotect(reinterpret_cast<void*>(at.region->base), at.region->bytes, PROT_READ | PROT_WRITE) == 0;
    }
    std::string content(at.region->bytes, '\0');
    ask({at.region, at.buffer, 0}, content.data(), content.size(), true);
    auto* memory = reinterpret_cast<char*>(at.region->base);
    mprotect(memory, content.size(), PROT_READ | PROT_WRITE);
    std::memcpy(memory, content.data(), content.size());
    view.held = true;
    view.uploaded = std::move(content);
    return true;
}

void* device_variable(const void* address, std::size_t bytes) {
    if (!planning()) return const_cast<void*>(address);
    static std::map<const void*, void*> known;
    void*& stand_in = known[address];
    if (stand_in == nullptr) {
        names_itself = true;
        stand_in = device_allocate(bytes, "variable");
        names_itself = false;
        if (stand_in == nullptr) fail(FaultKind::RESOURCE, {}, "no device memory left for a variable");
        const Location at = locate(stand_in);
        at.region->variable = true;
        StepText step(StepKind::VARIABLE);
        step.put(at.buffer).put(at.region->base).put(std::uint64_t(bytes)).put(reinterpret_cast<std::uint64_t>(address)).record();
    }
    return stand_in;
}

namespace {

void plan_kernel(const Launching& now, Body body, const void* context) {
    upload_all();
    launching = &now;
    arguments_came = false;
    body(context);
    launching = nullptr;
    if (!arguments_came) fail(FaultKind::UNKNOWN, now.where, std::string("`") + now.name + "` is launched, and is no kernel that could be told apart from host code");
    take_away_given(launched_at);
}

// Which of the launched kernels it is, and how it is launched.
void put_launch(StepText& step, std::uint64_t kernel) {
    if (launching->written == nullptr) {
        step.put(kernel);
        for (const dim3 extent : {launching->grid, launching->block}) step.put(extent.x).put(extent.y).put(extent.z);
        step.put(std::uint64_t(launching->shared_bytes)).put(std::int32_t(launching->where.line));
        step.put_text(launching->name).put_text(launching->where.file);
        return;
    }
    std::vector<Location> places;
    for (std::size_t i = 0; i < launching->written_count; ++i) {
        if (const Location at = locate(launching->written[i]); at.region != nullptr) places.push_back(at);
    }
    step.put(frames_here()).put_text(launching->name).put(kernel).put(static_cast<std::uint32_t>(places.size()));
    for (const Location& at : places) step.put(at.buffer).put(at.offset);
}

}  // namespace

void plan_launch(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, Where where, Body body, const void* context) {
    plan_kernel({name, grid, block, shared_bytes, where, nullptr, 0}, body, context);
}

void plan_library_work(const char* name, const void* const* written, std::size_t count, Body body, const void* context) {
    plan_kernel({name, {}, {}, 0, {}, written, count}, body, context);
}

void hand_over(const HandedOver* values, std::size_t count) {
    if (launching == nullptr || arguments_came) {
        fail(FaultKind::HOST_CHECK, {}, "host code calls a kernel as a function, without a launch");
    }
    arguments_came = true;
    StepText step(launching->written == nullptr ? StepKind::LAUNCH : StepKind::LIBRARY);
    put_launch(step, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
    step.put(static_cast<std::uint32_t>(count));
    for (const HandedOver* value = values; value != values + count; ++value) {
        step.put(static_cast<std::uint32_t>(value->bytes)).put(value->is_pointer).put(value->data, value->bytes);
        mark_given(value->data, value->bytes);
    }
    launched_at = step.work();
}

void plan_call() {
    was_reset = false;
    record_end_of_call();
    StepText(StepKind::CALL).record();
}

void plan_results(const std::vector<Result>& results) {
    record_end_of_call();
    StepText step(StepKind::RETURN);
    step.put(static_cast<std::uint32_t>(results.size()));
    for (const Result& result : results) {
        step.put(result.dtype).put(static_cast<std::uint32_t>(result.shape.size()));
        for (const std::int64_t extent : result.shape) step.put(extent);
        const Location at = locate(result.data);
        step.put(std::uint64_t(result.bytes)).put(at.region != nullptr);
        if (at.region != nullptr) step.put(at.buffer).put(at.offset);
        else step.put(result.data, result.bytes);
    }
    step.record();
}

}  // namespace porter::simt
