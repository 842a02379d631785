// CUDA's runtime, as far as CuPy calls it, for devices whose memory is the host's.
//
// Work waits in its stream's queue.  It runs at once, or with MACHINE_LAZY=1 in the environment as
// late as CUDA allows, when somebody waits for it: who forgets to wait then sees what was before.
// Memory is filled when it is handed out and when it comes back, so nobody counts on what was there.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "machine.h"

namespace {

constexpr int DEVICES = 2;
constexpr size_t MEMORY = size_t(8) << 30;

struct Stream {
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    bool blocking = true;  // the default stream waits for it, and it for that
    bool capturing = false, spoiled = false;
    std::deque<Work> queue;
    std::vector<Work>* graph = nullptr;
};
struct Event {
    int device = 0;
    bool recorded = false, done = true, captured = false;
    long number = 0;           // of the times it was recorded
    Stream* stream = nullptr;  // in whose queue it stands, if it is not done
    std::chrono::steady_clock::time_point time;
};
struct Piece { size_t size; int device; cudaMemoryType type; };

std::recursive_mutex lock;
bool lazy = std::getenv("MACHINE_LAZY") != nullptr;
thread_local int device_now = 0;
std::map<char*, Piece> pieces;
std::map<std::pair<int, void*>, std::unique_ptr<Stream>> streams;  // the default ones: by device
std::set<Stream*> others;
size_t used[DEVICES];
cudaError_t last = cudaSuccess;

using Guard = std::lock_guard<std::recursive_mutex>;

cudaError_t fail(cudaError_t error) { return last = error; }

bool is_default(void* handle) { return handle == nullptr || handle == cudaStreamLegacy; }

Stream* stream_of(void* handle) {
    if (!is_default(handle) && handle != cudaStreamPerThread)
        return others.count(static_cast<Stream*>(handle)) ? static_cast<Stream*>(handle) : nullptr;
    auto& found = streams[{device_now, handle == cudaStreamPerThread ? handle : nullptr}];
    if (!found) {
        found.reset(new Stream);
        found->device = device_now;
    }
    return found.get();
}

bool anybody_captures() {
    for (Stream* stream : others)
        if (stream->capturing) return true;
    return false;
}

// Does what is first in a stream's queue; tells whether there was anything.
bool step(Stream* stream) {
    if (stream->queue.empty()) return false;
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    work();
    return true;
}

void drain(Stream* stream) {
    while (step(stream)) {
    }
}

void drain_device(int device) {
    for (auto& [key, stream] : streams)
        if (stream->device == device) drain(stream.get());
    for (Stream* stream : others)
        if (stream->device == device) drain(stream);
}

// Puts work into a stream.  The default stream and blocking ones wait for each other.
cudaError_t enqueue(void* handle, Work work) {
    Guard guard(lock);
    Stream* stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (stream->capturing) {
        stream->graph->push_back(std::move(work));
        return cudaSuccess;
    }
    if (is_default(handle)) {
        for (Stream* other : others) {
            if (other->capturing && other->blocking) {
                other->spoiled = true;
                return fail(cudaErrorStreamCaptureImplicit);
            }
            if (other->blocking && other->device == stream->device) drain(other);
        }
    } else if (stream->blocking) {
        auto found = streams.find({stream->device, nullptr});
        if (found != streams.end()) drain(found->second.get());
    }
    stream->queue.push_back(std::move(work));
    if (!lazy) drain(stream);
    return cudaSuccess;
}

cudaError_t finish(void* handle) {
    Guard guard(lock);
    Stream* stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (stream->capturing) {
        stream->spoiled = true;
        return fail(cudaErrorStreamCaptureUnsupported);
    }
    if (is_default(handle))
        for (Stream* other : others)
            if (other->blocking && other->device == stream->device) drain(other);
    drain(stream);
    return cudaSuccess;
}

const Piece* piece_at(const void* pointer) {
    auto next = pieces.upper_bound(static_cast<char*>(const_cast<void*>(pointer)));
    if (next == pieces.begin()) return nullptr;
    --next;
    return static_cast<const char*>(pointer) < next->first + next->second.size ? &next->second
                                                                               : nullptr;
}

cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type) {
    Guard guard(lock);
    bool on_device = type == cudaMemoryTypeDevice;
    if (on_device && used[device_now] + size > MEMORY) return fail(cudaErrorMemoryAllocation);
    if (!size) return *pointer = nullptr, cudaSuccess;
    if (posix_memalign(pointer, 512, size)) return fail(cudaErrorMemoryAllocation);
    std::memset(*pointer, 0xA5, size);
    pieces[static_cast<char*>(*pointer)] = {size, device_now, type};
    if (on_device) used[device_now] += size;
    return cudaSuccess;
}

cudaError_t release(void* pointer) {
    Guard guard(lock);
    if (!pointer) return cudaSuccess;
    auto found = pieces.find(static_cast<char*>(pointer));
    if (found == pieces.end()) return fail(cudaErrorInvalidValue);
    for (int device = 0; device < DEVICES; device++) drain_device(device);
    if (found->second.type == cudaMemoryTypeDevice)
        used[found->second.device] -= found->second.size;
    std::memset(pointer, 0xA5, found->second.size);
    pieces.erase(found);
    std::free(pointer);
    return cudaSuccess;
}

// Memory of the host that CUDA does not know is read when the call is made; other memory later.
cudaError_t copy(void* to, const void* from, size_t size, void* stream) {
    Guard guard(lock);
    const Piece *target = piece_at(to), *source = piece_at(from);
    if (source) return enqueue(stream, [=] { std::memcpy(to, from, size); });
    auto kept = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                    static_cast<const char*>(from) + size);
    return enqueue(stream, [=] { std::memcpy(to, kept->data(), size); });
}

cudaError_t copy_and_wait(void* to, const void* from, size_t size) {
    if (anybody_captures()) return fail(cudaErrorStreamCaptureImplicit);
    cudaError_t error = copy(to, from, size, nullptr);
    return error ? error : finish(nullptr);
}

struct Graph { std::vector<Work> work; };

}  // namespace

extern "C" {

int machine_enqueue(void* stream, Work* work) { return enqueue(stream, *work); }
int machine_finish(void* stream) { return finish(stream); }
int machine_device(int device) { return device < 0 ? device_now : device_now = device; }

// ---- errors and devices

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorStreamCaptureImplicit: return "cudaErrorStreamCaptureImplicit";
        case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
        case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorNotSupported: return "cudaErrorNotSupported";
        case cudaErrorNotReady: return "cudaErrorNotReady";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        default: return "another error of CUDA";
    }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { cudaError_t was = last; last = cudaSuccess; return was; }
cudaError_t cudaDriverGetVersion(int* version) { *version = 13000; return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { *version = 13000; return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { *device = device_now; return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { *count = DEVICES; return cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= DEVICES) return fail(cudaErrorInvalidDevice);
    device_now = device;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (device < 0 || device >= DEVICES) return fail(cudaErrorInvalidDevice);
    switch (attribute) {
        case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
        case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
        case cudaDevAttrMultiProcessorCount: *value = 4; break;
        case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
        case cudaDevAttrWarpSize: *value = 32; break;
        case cudaDevAttrMaxGridDimX: *value = 2147483647; break;
        case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
        case cudaDevAttrMemoryPoolsSupported: *value = 0; break;
        default: *value = 0;
    }
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device < 0 || device >= DEVICES) return fail(cudaErrorInvalidDevice);
    *properties = {};
    std::strcpy(properties->name, "imaginary device");
    properties->totalGlobalMem = MEMORY;
    properties->major = 9;
    properties->multiProcessorCount = 4;
    properties->maxThreadsPerBlock = 1024;
    properties->warpSize = 32;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    Guard guard(lock);
    if (anybody_captures()) return fail(cudaErrorStreamCaptureUnsupported);
    drain_device(device_now);
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { *can = 1; return cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

// ---- memory

cudaError_t cudaMalloc(void** pointer, size_t size) {
    return allocate(pointer, size, cudaMemoryTypeDevice);
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned) {
    return allocate(pointer, size, cudaMemoryTypeHost);
}
cudaError_t cudaFree(void* pointer) { return release(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return release(pointer); }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *free = MEMORY - used[device_now];
    *total = MEMORY;
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind) {
    return copy_and_wait(to, from, size);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind,
                            cudaStream_t stream) {
    return copy(to, from, size, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t size) {
    return copy_and_wait(to, from, size);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t size,
                                cudaStream_t stream) {
    return copy(to, from, size, stream);
}
cudaError_t cudaMemset(void* to, int value, size_t size) {
    return enqueue(nullptr, [=] { std::memset(to, value, size); });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
    return enqueue(stream, [=] { std::memset(to, value, size); });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    Guard guard(lock);
    const Piece* piece = piece_at(pointer);
    *attributes = {};
    attributes->type = piece ? piece->type : cudaMemoryTypeUnregistered;
    attributes->device = piece ? piece->device : -2;
    if (piece && piece->type == cudaMemoryTypeDevice)
        attributes->devicePointer = const_cast<void*>(pointer);
    else
        attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
}

// ---- streams and events

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    Guard guard(lock);
    auto* made = new Stream;
    made->device = device_now;
    made->flags = flags;
    made->blocking = !(flags & cudaStreamNonBlocking);
    made->priority = priority;
    others.insert(made);
    *stream = reinterpret_cast<cudaStream_t>(made);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
    Guard guard(lock);
    return *flags = stream_of(handle)->flags, cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    Guard guard(lock);
    return *priority = stream_of(handle)->priority, cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    Guard guard(lock);
    auto* stream = reinterpret_cast<Stream*>(handle);
    if (!others.count(stream)) return fail(cudaErrorInvalidResourceHandle);
    drain(stream);
    others.erase(stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return finish(stream); }
cudaError_t cudaStreamQuery(cudaStream_t handle) {
    Guard guard(lock);
    Stream* stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (stream->capturing) return fail(cudaErrorStreamCaptureUnsupported);
    if (stream->queue.empty()) return cudaSuccess;
    drain(stream);  // ready when asked again
    return cudaErrorNotReady;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return enqueue(stream, [=] { function(data); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    auto* made = new Event;
    made->device = device_now;
    *event = reinterpret_cast<cudaEvent_t>(made);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t handle) {  // its memory stays: it may stand in a queue
    return handle ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
    Guard guard(lock);
    auto* event = reinterpret_cast<Event*>(handle);
    Stream* where = stream_of(stream);
    if (!where) return fail(cudaErrorInvalidResourceHandle);
    if (where->device != event->device) return fail(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    event->captured = where->capturing;
    event->done = false;
    event->stream = where;
    long number = ++event->number;
    return enqueue(stream, [=] {
        if (event->number == number) {
            event->done = true;
            event->time = std::chrono::steady_clock::now();
        }
    });
}
static void await(Event* event) {
    while (!event->done && step(event->stream)) {
    }
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
    Guard guard(lock);
    auto* event = reinterpret_cast<Event*>(handle);
    if (event->captured && event->stream != stream_of(stream)) {
        std::fprintf(stderr, "a capture that branches into another stream is not here\n");
        return fail(cudaErrorNotSupported);
    }
    return enqueue(stream, [=] { await(event); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    Guard guard(lock);
    auto* event = reinterpret_cast<Event*>(handle);
    if (event->captured) return fail(cudaErrorStreamCaptureUnsupported);
    await(event);
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
    Guard guard(lock);
    auto* event = reinterpret_cast<Event*>(handle);
    if (event->done) return cudaSuccess;
    await(event);
    return cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t a, cudaEvent_t b) {
    auto *first = reinterpret_cast<Event*>(a), *second = reinterpret_cast<Event*>(b);
    if (!first->recorded || !second->recorded) return fail(cudaErrorInvalidResourceHandle);
    if (!first->done || !second->done) return fail(cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
    return cudaSuccess;
}

// ---- graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
    Guard guard(lock);
    if (is_default(handle)) return fail(cudaErrorStreamCaptureUnsupported);
    Stream* stream = stream_of(handle);
    if (!stream || stream->capturing) return fail(cudaErrorInvalidValue);
    stream->capturing = true;
    stream->spoiled = false;
    stream->graph = &(new Graph)->work;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    Guard guard(lock);
    Stream* stream = stream_of(handle);
    if (!stream || !stream->capturing) return fail(cudaErrorInvalidValue);
    stream->capturing = false;
    *graph = reinterpret_cast<cudaGraph_t>(stream->graph);
    stream->graph = nullptr;
    return stream->spoiled ? fail(cudaErrorStreamCaptureInvalidated) : cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
    Guard guard(lock);
    Stream* stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    *status = stream->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    thread_local cudaStreamCaptureMode now = cudaStreamCaptureModeGlobal;
    std::swap(now, *mode);
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
    *made = reinterpret_cast<cudaGraphExec_t>(new Graph{reinterpret_cast<Graph*>(graph)->work});
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    auto* whole = reinterpret_cast<Graph*>(graph);
    return enqueue(stream, [=] { for (Work& work : whole->work) work(); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }

}  // extern "C"
