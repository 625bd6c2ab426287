// Streams, events and graphs. Work runs when it is submitted, so all of them are complete at once.
#pragma once

#include "porter/runtime_memory.h"

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    *stream = new CUstream_st{flags, priority, false};
    return porter::simt::stream_made(*stream, (flags & cudaStreamNonBlocking) == 0), cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return porter::simt::host_waits_for_stream(stream), cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return porter::simt::stream_is_done(stream) ? cudaSuccess : cudaErrorNotReady; }
inline cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) { return *flags = stream->flags, cudaSuccess; }
inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return *priority = stream->priority, cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int = 0) {
    return porter::simt::stream_waits_for_event(stream, event), cudaSuccess;
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int) {
    const porter::simt::InStream in(stream);
    return callback(stream, cudaSuccess, data), cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t = 0, unsigned int = cudaMemAttachSingle) {
    return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    const porter::simt::InStream in(stream);
    return function(data), cudaSuccess;
}

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return *event = new CUevent_st{flags, false}, cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags = cudaEventDefault) {
    return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
    if (event == nullptr) return porter::returned(cudaErrorInvalidResourceHandle);
    porter::simt::event_recorded(event, stream);
    return event->recorded = true, cudaSuccess;
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned int = 0) {
    return cudaEventRecord(event, stream);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) { return porter::simt::host_waits_for_event(event), cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return porter::simt::event_is_done(event) ? cudaSuccess : cudaErrorNotReady; }
// The job's: no time on a device is measured, and what programs print of it stays the same.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded)
        return porter::returned(cudaErrorInvalidResourceHandle);
    return *milliseconds = porter::simt::event_milliseconds(), cudaSuccess;
}
#if PORTER_DOUBLE_PRECISION
inline cudaError_t cudaEventElapsedTime(double* milliseconds, cudaEvent_t, cudaEvent_t) { return *milliseconds = porter::simt::event_milliseconds(), cudaSuccess; }
#endif

// In a plan a captured graph is done when it is launched. Elsewhere it has run while it was captured: launching it once is
// right, launching it again is not modelled.
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode = cudaStreamCaptureModeGlobal) {
    if (stream == nullptr) return porter::returned(cudaErrorStreamCaptureUnsupported);
    porter::simt::begin_capture();
    return stream->capturing = true, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return stream->capturing = false, *graph = new CUgraph_st{porter::simt::end_capture()}, cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    *status = stream != nullptr && stream->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
template <class... Options>
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, Options...) {
    return *executable = new CUgraphExec_st{0, graph->number}, cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream, porter::Where where = porter::Where::here()) {
    if (porter::simt::launch_graph(executable->number, stream)) return cudaSuccess;
    if (executable->launches++ == 0) return cudaSuccess;
    porter::simt::note(porter::simt::FaultKind::UNKNOWN, where, "a captured graph is launched a second time, which is not modelled");
    return porter::returned(cudaErrorNotSupported);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return delete executable, cudaSuccess; }
