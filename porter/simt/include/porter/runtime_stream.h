// Streams, events and graphs. Work runs when it is submitted, so all of them are complete at once.
#pragma once

#include "porter/runtime_memory.h"

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    return *stream = new CUstream_st{flags, priority, false}, cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) { return *flags = stream->flags, cudaSuccess; }
inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return *priority = stream->priority, cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int) {
    return callback(stream, cudaSuccess, data), cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t = 0, unsigned int = cudaMemAttachSingle) {
    return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) { return function(data), cudaSuccess; }

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return *event = new CUevent_st{flags, false}, cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags = cudaEventDefault) {
    return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
    if (event == nullptr) return porter::returned(cudaErrorInvalidResourceHandle);
    return event->recorded = true, cudaSuccess;
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned int = 0) {
    return cudaEventRecord(event, stream);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
// The job's: no time on a device is measured, and what programs print of it stays the same.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded)
        return porter::returned(cudaErrorInvalidResourceHandle);
    return *milliseconds = porter::simt::event_milliseconds(), cudaSuccess;
}
#if PORTER_DOUBLE_PRECISION
inline cudaError_t cudaEventElapsedTime(double* milliseconds, cudaEvent_t, cudaEvent_t) { return *milliseconds = porter::simt::event_milliseconds(), cudaSuccess; }
#endif

// A captured graph has run while it was captured: launching it once is right, launching it again is not modelled.
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode = cudaStreamCaptureModeGlobal) {
    if (stream == nullptr) return porter::returned(cudaErrorStreamCaptureUnsupported);
    return stream->capturing = true, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return stream->capturing = false, *graph = new CUgraph_st, cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    *status = stream != nullptr && stream->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
template <class... Options>
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t, Options...) {
    return *executable = new CUgraphExec_st{0}, cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t, porter::Where where = porter::Where::here()) {
    if (executable->launches++ == 0) return cudaSuccess;
    porter::simt::note(porter::simt::FaultKind::UNKNOWN, where, "a captured graph is launched a second time, which is not modelled");
    return porter::returned(cudaErrorNotSupported);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return delete executable, cudaSuccess; }
