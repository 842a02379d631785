// CUDA's driver: modules are shared libraries, and a kernel's threads run one after the other.
//
// Where threads of a block wait for each other they are fibers: one runs until it waits.
#include <cuda.h>
#include <dlfcn.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "machine.h"

struct Index { unsigned x, y, z; };

extern "C" {
Index threadIdx, blockIdx, blockDim, gridDim;
char* machine_shared;
}

namespace {

constexpr size_t STACK = 128 * 1024, WARP = 32, MOST_THREADS = 1024, MOST_SHARED = 48 * 1024;

struct Kernel { Work (*bind)(void** arguments); bool waits; };

enum State { RUNS, WAITS_FOR_BLOCK, WAITS_FOR_WARP, ENDED };

struct Fiber {
    ucontext_t context;
    State state;
    Index index;
    alignas(16) char given[16], taken[16];
    std::vector<char> stack;
};

std::mutex one_kernel_at_a_time;
std::vector<Fiber> fibers(MOST_THREADS);
ucontext_t scheduler;
size_t current, count;  // the fiber that runs, and how many there are
const Work* body;
bool in_fibers;

void run_fiber() {
    (*body)();
    fibers[current].state = ENDED;
    swapcontext(&fibers[current].context, &scheduler);
}

void wait(State state) {
    if (!in_fibers) {
        std::fprintf(stderr, "a kernel's threads wait, which its text did not show\n");
        std::abort();
    }
    fibers[current].state = state;
    swapcontext(&fibers[current].context, &scheduler);
}

// Lets those go on that wait, if all others of the group have arrived; tells whether any do.
bool release(size_t first, size_t last, State state) {
    bool waiting = false;
    for (size_t i = first; i < last; i++) {
        if (fibers[i].state != state && fibers[i].state != ENDED) return false;
        waiting |= fibers[i].state == state;
    }
    for (size_t i = first; i < last; i++)
        if (fibers[i].state == state) fibers[i].state = RUNS;
    return waiting;
}

void run_block_of_fibers() {
    for (size_t i = 0; i < count; i++) {
        Fiber& fiber = fibers[i];
        fiber.stack.resize(STACK);
        fiber.state = RUNS;
        fiber.index = {unsigned(i) % blockDim.x, unsigned(i) / blockDim.x % blockDim.y,
                       unsigned(i) / blockDim.x / blockDim.y};
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, run_fiber, 0);
    }
    for (bool any = true; any;) {
        for (current = 0; current < count; current++)
            if (fibers[current].state == RUNS) {
                threadIdx = fibers[current].index;
                swapcontext(&scheduler, &fibers[current].context);
            }
        any = false;
        for (size_t warp = 0; warp < count; warp += WARP)
            any |= release(warp, std::min(warp + WARP, count), WAITS_FOR_WARP);
        any |= release(0, count, WAITS_FOR_BLOCK);
    }
    for (size_t i = 0; i < count; i++)
        if (fibers[i].state != ENDED) {
            std::fprintf(stderr, "threads of a block wait for others that never come\n");
            std::abort();
        }
}

void run_block() {
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
        for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) (*body)();
}

void run(const Work& work, bool waits, Index grid, Index block, size_t shared) {
    std::lock_guard<std::mutex> alone(one_kernel_at_a_time);
    std::vector<char> memory(shared + 16);
    machine_shared = memory.data() + (16 - reinterpret_cast<size_t>(memory.data()) % 16) % 16;
    gridDim = grid;
    blockDim = block;
    count = size_t(block.x) * block.y * block.z;
    body = &work;
    in_fibers = waits;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
                std::memset(memory.data(), 0xA5, memory.size());  // nobody may count on zeros
                waits ? run_block_of_fibers() : run_block();
            }
}

bool fits(Index grid, Index block, unsigned shared) {
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 2147483647 &&
           grid.y <= 65535 && grid.z <= 65535 && block.z <= 64 &&
           size_t(block.x) * block.y * block.z <= MOST_THREADS && shared <= MOST_SHARED;
}

}  // namespace

extern "C" {

void machine_wait_for_block() { wait(WAITS_FOR_BLOCK); }
void machine_wait_for_warp() { wait(WAITS_FOR_WARP); }

void* machine_exchange(const void* value, size_t size, int lane) {
    Fiber& self = fibers[current];
    size_t other = std::min(current / WARP * WARP + lane, count - 1);
    std::memcpy(self.given, value, size);
    machine_wait_for_warp();
    std::memcpy(self.taken, fibers[other].given, size);
    machine_wait_for_warp();
    return self.taken;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    *name = error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
            : error == CUDA_ERROR_NOT_FOUND   ? "CUDA_ERROR_NOT_FOUND"
                                              : "CUDA_ERROR";
    return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(now, *mode);
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(size_t(machine_device(-1)) + 1);
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    if (context) machine_device(int(reinterpret_cast<size_t>(context)) - 1);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { return *device = machine_device(-1), CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext* context) { return cuCtxGetCurrent(context); }

// An image is the path of a library, which `machine.py` has compiled.
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    void* library = dlopen(static_cast<const char*>(image), RTLD_NOW | RTLD_LOCAL);
    if (!library) std::fprintf(stderr, "%s\n", dlerror());
    *module = static_cast<CUmodule>(library);
    return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }  // what runs late may still need it
CUresult cuModuleGetFunction(CUfunction* function, CUmodule library, const char* name) {
    void* bind = dlsym(library, ("machine_bind_" + std::string(name)).c_str());
    if (!bind) return CUDA_ERROR_NOT_FOUND;
    bool waits = *static_cast<bool*>(dlsym(library, "machine_waits"));
    *function = reinterpret_cast<CUfunction>(
        new Kernel{reinterpret_cast<Work (*)(void**)>(bind), waits});
    return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* size, CUmodule library,
                              const char* name) {
    *pointer = reinterpret_cast<CUdeviceptr>(dlsym(library, name));
    *size = 0;
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? MOST_THREADS : 0;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void**) {
    Index grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    if (!fits(grid, block, shared)) return CUDA_ERROR_INVALID_VALUE;
    auto* kernel = reinterpret_cast<Kernel*>(function);
    Work bound = kernel->bind(arguments);
    Work work = [=, waits = kernel->waits] { run(bound, waits, grid, block, shared); };
    return CUresult(machine_enqueue(stream, &work));
}

}  // extern "C"
