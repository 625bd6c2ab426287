// Order between streams, as a plan needs it: which work is ordered behind which. Elsewhere work is done at once, and in order.
#pragma once

namespace porter::simt {

// Streams that the source made; all others are the default stream. One that `waits_for_default` and the default stream wait
// for each other.
void stream_made(const void* stream, bool waits_for_default);
void stream_waits_for_event(const void* stream, const void* event);
void event_recorded(const void* event, const void* stream);

void host_waits_for_stream(const void* stream);
void host_waits_for_event(const void* event);
void host_waits_for_all();
void host_waits_for_work();  // on the stream that work is asked for at
// Whether the host, which then knows, finds the work done: of a device, not when it asks at once.
bool stream_is_done(const void* stream);
bool event_is_done(const void* event);

// What is asked for meanwhile is work on this stream.
class AtStream {
public:
    explicit AtStream(const void* stream);
    ~AtStream();
    AtStream(const AtStream&) = delete;
    AtStream& operator=(const AtStream&) = delete;

private:
    const void* before_;
};

// The host does something meanwhile that a stream called it for, when all before is done.
class InStream {
public:
    explicit InStream(const void* stream);
    ~InStream();
    InStream(const InStream&) = delete;
    InStream& operator=(const InStream&) = delete;
};

// What is asked for from now on is done when the graph is launched; its number. Where no plan is made it is done at once.
void begin_capture();
int end_capture();
// True where a graph may be launched so often, and was: in a plan. Elsewhere its work was done when it was captured.
bool launch_graph(int graph, const void* stream);

}  // namespace porter::simt
