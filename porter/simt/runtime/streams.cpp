// Order between the streams of a plan, by vector clocks: each stream knows up to where the others are done before it.
#include "porter/streams.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "plan.h"
#include "porter/memory.h"
#include "record.h"
#include "streams.h"

namespace porter::simt {

namespace {

struct Stream {
    std::uint32_t number = 0;
    bool waits_for_default = true;
    bool asked = false;  // whether its work is done, since some was given to it
    Clock clock;
};

Stream default_stream;
std::map<const void*, Stream> streams;
std::map<const void*, Clock> events;
std::map<const void*, bool> asked_events;
Clock host, host_before_callback;
const void* stream_now = nullptr;
bool capturing = false;
std::vector<std::vector<std::string>> graphs;

void merge(Clock& into, const Clock& other) {
    for (const auto& [stream, time] : other) {
        if (into[stream] < time) into[stream] = time;
    }
}

bool covers(const Clock& one, const Clock& other) {
    for (const auto& [stream, time] : other) {
        const auto found = one.find(stream);
        if (found == one.end() || found->second < time) return false;
    }
    return true;
}

Stream& stream_of(const void* handle) {
    const auto found = streams.find(handle);
    return found == streams.end() ? default_stream : found->second;
}

// What is ordered before the next work on a stream.
Clock& before(Stream& stream) {
    merge(stream.clock, host);
    if (&stream == &default_stream) {
        for (auto& [handle, other] : streams) {
            if (other.waits_for_default) merge(stream.clock, other.clock);
        }
    } else if (stream.waits_for_default) {
        merge(stream.clock, default_stream.clock);
    }
    return stream.clock;
}

std::string text_of(const Clock& clock) {
    std::string text;
    const auto put = [&](auto value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
    put(static_cast<std::uint32_t>(clock.size()));
    for (const auto& [stream, time] : clock) put(stream), put(time);
    return text;
}

void record_order(StepKind kind, const Moment& moment, const Clock& after) {
    std::string text(1, static_cast<char>(kind));
    if (kind == StepKind::ORDER) text.append(reinterpret_cast<const char*>(&moment), sizeof moment);
    text += text_of(after);
    record_step(text.data(), text.size());
}

bool is_done(const Clock& work, bool& asked) {
    if (!planning()) return true;
    const bool at_once = like_a_device() && !asked && !covers(host, work);
    asked = true;
    if (!at_once) merge(host, work);
    return !at_once;
}

}  // namespace

Moment record_work(const std::string& step, bool by_host) {
    if (capturing) {
        if (by_host) fail(FaultKind::HOST_CHECK, {}, "host code reads memory of the device while a stream is captured");
        graphs.back().push_back(step);
        return {};
    }
    record_step(step.data(), step.size());
    if (by_host) {
        const Moment moment = {HOST_STREAM, ++host[HOST_STREAM]};
        Clock after = host;
        --after[HOST_STREAM];
        record_order(StepKind::ORDER, moment, after);
        return moment;
    }
    Stream& stream = stream_of(stream_now);
    const Clock after = before(stream);
    stream.asked = false;
    const Moment moment = {stream.number, ++stream.clock[stream.number]};
    record_order(StepKind::ORDER, moment, after);
    return moment;
}

void host_waits_for_work() { host_waits_for_stream(stream_now); }

bool host_knows(const Moment& moment) {
    const auto found = host.find(moment.stream);
    return moment.time == 0 || (found != host.end() && found->second >= moment.time);
}

void record_end_of_call() {
    if (capturing) fail(FaultKind::HOST_CHECK, {}, "a call ends while a stream is captured");
    record_order(StepKind::END, {}, before(default_stream));
}

void stream_made(const void* stream, bool waits_for_default) {
    if (!planning()) return;
    static std::uint32_t made = 0;
    streams[stream] = {++made, waits_for_default, false, {}};
}

void stream_waits_for_event(const void* stream, const void* event) {
    if (planning()) merge(stream_of(stream).clock, events[event]);
}

void event_recorded(const void* event, const void* stream) {
    if (!planning()) return;
    events[event] = before(stream_of(stream));
    asked_events[event] = false;
}

void host_waits_for_stream(const void* stream) {
    if (planning()) merge(host, before(stream_of(stream)));
}

void host_waits_for_event(const void* event) {
    if (planning()) merge(host, events[event]);
}

void host_waits_for_all() {
    if (!planning()) return;
    merge(host, default_stream.clock);
    for (const auto& [handle, stream] : streams) merge(host, stream.clock);
}

bool stream_is_done(const void* stream) { return is_done(before(stream_of(stream)), stream_of(stream).asked); }
bool event_is_done(const void* event) { return is_done(events[event], asked_events[event]); }

AtStream::AtStream(const void* stream) : before_(stream_now) { stream_now = stream; }
AtStream::~AtStream() { stream_now = before_; }

InStream::InStream(const void* stream) {
    host_before_callback = host;
    host_waits_for_stream(stream);
}
InStream::~InStream() { host = host_before_callback; }

void begin_capture() {
    if (!planning()) return;
    capturing = true;
    graphs.emplace_back();
}

int end_capture() {
    capturing = false;
    return static_cast<int>(graphs.size()) - 1;
}

bool launch_graph(int graph, const void* stream) {
    if (!planning()) return false;
    const AtStream at(stream);
    if (graph < 0 || static_cast<std::size_t>(graph) >= graphs.size()) fail(FaultKind::HOST_CHECK, {}, "a graph is launched that was never captured");
    for (const std::string& step : graphs[static_cast<std::size_t>(graph)]) record_work(step, false);
    return true;
}

}  // namespace porter::simt
