// cuDNN's graphs of one convolution, in plain loops, below NVIDIA's frontend.
//
// A descriptor keeps what was set, under the numbers that cuDNN's interface gives to attributes, and
// is checked when it is finalized.  Three kernels are offered: one for tensor cores, which rounds
// float32 to ten bits and wants a multiple of eight channels; one that is not deterministic and
// scribbles on its workspace; and a plain one.
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine.h"

namespace {

enum { OK = 0, BAD = 2000, UNSUPPORTED = 3000 };  // statuses
enum { BOOLEAN = 2, INT64 = 3, DOUBLE = 5, POINTER = 6, HANDLE = 0, PART = 15, CHAR = 19 };
enum {  // descriptors
    CONVOLUTION = 1, ENGINE, CONFIGURATION, HEURISTIC, PLAN, FORWARD = 10, BY_WEIGHT, BY_INPUT,
    GRAPH = 15, PACK, TENSOR
};
enum {  // attributes
    DILATION = 102, STRIDE, PAD_AFTER, PAD_BEFORE, SPATIAL_DIMS, MODE = 200, GRAPH_OF_HEURISTIC,
    RESULTS, ENGINE_OF = 300, WORKSPACE_OF_CONFIGURATION = 303, SHARED_MEMORY,
    CONFIGURATION_OF = 401, WORKSPACE_SIZE, HANDLE_OF_GRAPH = 800, OPERATIONS,
    ALIGNMENT = 900, DATA_TYPE, SIZES, STRIDES, UID = 906,
    UIDS = 1000, POINTERS, WORKSPACE = 1003, GRAPH_OF_ENGINE = 1300, INDEX, NOTES = 1303
};
enum { TENSOR_CORES, NONDETERMINISTIC, PLAIN };  // kernels
constexpr int32_t NOTE_TENSOR_CORE = 0, NOTE_NONDETERMINISTIC = 4, FALLBACK = 2;
constexpr int64_t SCRIBBLED = 1000;

thread_local std::string last_error;

int fail(int status, std::string text) {
    last_error = "imaginary cuDNN: " + std::move(text);
    return status;
}

struct Handle { int device = machine_device(-1); void* stream = nullptr; };

struct Content {
    int type;
    bool final = false;
    std::map<int, std::vector<char>> values = {};
    std::map<int, std::vector<std::shared_ptr<Content>>> parts = {};

    template <class T> std::vector<T> all(int name) const {
        auto found = values.find(name);
        if (found == values.end()) return {};
        std::vector<T> result(found->second.size() / sizeof(T));
        std::memcpy(result.data(), found->second.data(), found->second.size());
        return result;
    }
    template <class T> T one(int name, T otherwise = {}) const {
        auto found = all<T>(name);
        return found.empty() ? otherwise : found[0];
    }
    template <class T> void set(int name, const std::vector<T>& what) {
        values[name].assign((const char*)what.data(), (const char*)(what.data() + what.size()));
    }
    const Content& part(int name) const {
        static const Content nothing{-1};
        auto found = parts.find(name);
        return found == parts.end() || found->second.empty() ? nothing : *found->second[0];
    }
};
struct Descriptor { std::shared_ptr<Content> content; };

size_t width(int type) {
    return type == INT64 || type == DOUBLE || type == POINTER || type == HANDLE ? 8
           : type == BOOLEAN || type == CHAR                                   ? 1
                                                                               : 4;
}

// -------------------------------------------------------------------- what a convolution is

struct Tensor {
    std::vector<int64_t> sizes, strides;
    int64_t uid, alignment;
    int32_t type;  // 0: float, 2: half
};

Tensor tensor_of(const Content& c) {
    Tensor t{c.all<int64_t>(SIZES), c.all<int64_t>(STRIDES), c.one<int64_t>(UID),
             c.one<int64_t>(ALIGNMENT), c.one<int32_t>(DATA_TYPE, -1)};
    while (t.sizes.size() < 5) {  // a flat image has depth one
        t.sizes.insert(t.sizes.begin() + 2, 1);
        t.strides.insert(t.strides.begin() + 2, 0);
    }
    return t;
}

struct Convolution {
    Tensor x, w, y;
    std::vector<int64_t> stride, before, after, dilation;
    int type;

    Tensor& written() { return type == FORWARD ? y : type == BY_INPUT ? x : w; }
};

std::vector<int64_t> in_three(std::vector<int64_t> values, int64_t missing) {
    while (values.size() < 3) values.insert(values.begin(), missing);
    return values;
}

Convolution convolution_of(const Content& operation) {
    static const std::map<int, std::vector<int>> names = {  // the convolution, x, w, y
        {FORWARD, {702, 704, 703, 705}}, {BY_INPUT, {708, 710, 709, 711}},
        {BY_WEIGHT, {714, 716, 715, 717}}};
    auto& n = names.at(operation.type);
    const Content& c = operation.part(n[0]);
    return {tensor_of(operation.part(n[1])), tensor_of(operation.part(n[2])),
            tensor_of(operation.part(n[3])), in_three(c.all<int64_t>(STRIDE), 1),
            in_three(c.all<int64_t>(PAD_BEFORE), 0), in_three(c.all<int64_t>(PAD_AFTER), 0),
            in_three(c.all<int64_t>(DILATION), 1), operation.type};
}

int check(const Convolution& c) {
    auto &x = c.x.sizes, &w = c.w.sizes, &y = c.y.sizes;
    if (x[0] != y[0] || w[0] != y[1] || x[1] % w[1] || w[0] % (x[1] / w[1]))
        return fail(BAD, "batches or channels do not fit");
    for (int d = 0; d < 3; d++)
        if (y[d + 2] != 1 + (x[d + 2] + c.before[d] + c.after[d]
                             - c.dilation[d] * (w[d + 2] - 1) - 1) / c.stride[d])
            return fail(BAD, "sizes do not fit");
    return OK;
}

double read(const Tensor& t, const void* memory, int64_t at, bool rounded) {
    if (t.type == 2) return __half2float(static_cast<const __half*>(memory)[at]);
    float value = static_cast<const float*>(memory)[at];
    if (rounded) {
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        bits = (bits + 0x1000) & ~uint32_t(0x1fff);
        std::memcpy(&value, &bits, 4);
    }
    return value;
}

void convolve(Convolution c, std::map<int64_t, char*> memory, bool rounded) {
    Tensor& out = c.written();
    auto &x = c.x, &w = c.w, &y = c.y;
    char *px = memory[x.uid], *pw = memory[w.uid], *py = memory[y.uid];
    int64_t count = 1, per_group = w.sizes[0] / (x.sizes[1] / w.sizes[1]), at[7];
    for (int64_t size : out.sizes) count *= size;
    std::vector<double> sums(count);
    const int64_t last[] = {y.sizes[0], y.sizes[1], w.sizes[1], w.sizes[2], w.sizes[3], w.sizes[4]};
    std::vector<int64_t> i(6);  // batch, channels out and in, and a place of the filter
    for (bool more = true; more;) {
        for (at[0] = 0; at[0] < y.sizes[2]; at[0]++)
            for (at[1] = 0; at[1] < y.sizes[3]; at[1]++)
                for (at[2] = 0; at[2] < y.sizes[4]; at[2]++) {
                    bool inside = true;
                    for (int d = 0; d < 3; d++) {
                        at[3 + d] = at[d] * c.stride[d] - c.before[d] + i[3 + d] * c.dilation[d];
                        inside = inside && at[3 + d] >= 0 && at[3 + d] < x.sizes[2 + d];
                    }
                    if (!inside) continue;
                    const int64_t ix[] = {i[0], i[1] / per_group * w.sizes[1] + i[2], at[3], at[4],
                                          at[5]},
                                  iw[] = {i[1], i[2], i[3], i[4], i[5]},
                                  iy[] = {i[0], i[1], at[0], at[1], at[2]};
                    auto value = [&](const Tensor& t, const char* p, const int64_t* index) {
                        int64_t offset = 0;
                        for (int d = 0; d < 5; d++) offset += index[d] * t.strides[d];
                        return read(t, p, offset, rounded);
                    };
                    const int64_t* to = c.type == FORWARD ? iy : c.type == BY_INPUT ? ix : iw;
                    int64_t place = 0;
                    for (int d = 0; d < 5; d++) place = place * out.sizes[d] + to[d];
                    sums[place] += (c.type == BY_INPUT ? 1 : value(x, px, ix))
                                   * (c.type == BY_WEIGHT ? 1 : value(w, pw, iw))
                                   * (c.type == FORWARD ? 1 : value(y, py, iy));
                }
        int d = 5;
        while (d >= 0 && ++i[d] == last[d]) i[d--] = 0;
        more = d >= 0;
    }
    char* written = memory[out.uid];
    for (int64_t place = 0; place < count; place++) {
        int64_t rest = place, offset = 0;
        for (int d = 4; d >= 0; rest /= out.sizes[d--]) offset += rest % out.sizes[d] * out.strides[d];
        if (out.type == 2) ((__half*)written)[offset] = __float2half(float(sums[place]));
        else ((float*)written)[offset] = float(sums[place]);
    }
}

// -------------------------------------------------------------------- descriptors

const Content& graph_of(const Content& plan) {
    return plan.part(CONFIGURATION_OF).part(ENGINE_OF).part(GRAPH_OF_ENGINE);
}
int64_t kernel_of(const Content& plan) {
    return plan.part(CONFIGURATION_OF).part(ENGINE_OF).one<int64_t>(INDEX);
}

std::shared_ptr<Content> configuration(std::shared_ptr<Content> graph, int64_t kernel) {
    auto engine = std::make_shared<Content>(Content{ENGINE, true});
    engine->parts[GRAPH_OF_ENGINE] = {graph};
    engine->set<int64_t>(INDEX, {kernel});
    if (kernel == TENSOR_CORES) engine->set<int32_t>(NOTES, {NOTE_TENSOR_CORE});
    if (kernel == NONDETERMINISTIC) engine->set<int32_t>(NOTES, {NOTE_NONDETERMINISTIC});
    auto found = std::make_shared<Content>(Content{CONFIGURATION, true});
    found->parts[ENGINE_OF] = {engine};
    found->set<int64_t>(WORKSPACE_OF_CONFIGURATION, {kernel == NONDETERMINISTIC ? SCRIBBLED : 0});
    found->set<int32_t>(SHARED_MEMORY, {0});
    return found;
}

int finalized(Content& c) {
    if (c.type == TENSOR) {
        auto sizes = c.all<int64_t>(SIZES), strides = c.all<int64_t>(STRIDES);
        if (sizes.size() != strides.size() || sizes.size() < 4 || sizes.size() > 5)
            return fail(BAD, "a tensor of a convolution has 4 or 5 dimensions");
        for (size_t d = 0; d < sizes.size(); d++)
            if (sizes[d] < 1 || strides[d] < 1) return fail(BAD, "sizes and strides are positive");
    } else if (c.type == CONVOLUTION) {
        for (int name : {DILATION, STRIDE, PAD_AFTER, PAD_BEFORE})
            if (int64_t(c.all<int64_t>(name).size()) != c.one<int64_t>(SPATIAL_DIMS))
                return fail(BAD, "a convolution needs a number for each dimension of space");
    } else if (c.type == FORWARD || c.type == BY_INPUT || c.type == BY_WEIGHT) {
        return check(convolution_of(c));
    } else if (c.type == GRAPH) {
        if (c.parts[OPERATIONS].size() != 1) return fail(UNSUPPORTED, "one operation in a graph");
        if (!c.one<Handle*>(HANDLE_OF_GRAPH)) return fail(BAD, "a graph needs a handle");
    } else if (c.type == HEURISTIC) {
        auto graph = c.parts[GRAPH_OF_HEURISTIC].at(0);
        if (c.one<int32_t>(MODE) == FALLBACK) c.parts[RESULTS] = {configuration(graph, PLAIN)};
        else for (int64_t kernel : {TENSOR_CORES, NONDETERMINISTIC, PLAIN})
            c.parts[RESULTS].push_back(configuration(graph, kernel));
    } else if (c.type == PLAN) {
        Convolution conv = convolution_of(graph_of(c).part(OPERATIONS));
        for (const Tensor& t : {conv.x, conv.w, conv.y})
            if (t.type != 0 && t.type != 2) return fail(UNSUPPORTED, "float and half alone");
        if (kernel_of(c) == TENSOR_CORES && (conv.w.sizes[0] % 8 || conv.w.sizes[1] % 8))
            return fail(UNSUPPORTED, "tensor cores take channels by eight");
        c.values[WORKSPACE_SIZE] = c.parts[CONFIGURATION_OF][0]->values[WORKSPACE_OF_CONFIGURATION];
    } else if (c.type == PACK) {
        if (c.all<int64_t>(UIDS).size() != c.all<char*>(POINTERS).size())
            return fail(BAD, "each tensor needs an address");
    } else {
        return fail(UNSUPPORTED, "no descriptor of type " + std::to_string(c.type));
    }
    return OK;
}

bool lies_on(int device, void* pointer) {
    cudaPointerAttributes found{};
    return cudaPointerGetAttributes(&found, pointer) == cudaSuccess
           && found.type == cudaMemoryTypeDevice && found.device == device;
}

int execute(Handle* handle, const Content& plan, const Content& pack) {
    if (!plan.final || !pack.final) return fail(BAD, "a plan and a pack are finalized first");
    int device = handle->device;
    const Content& graph = graph_of(plan);
    if (device != machine_device(-1) || graph.one<Handle*>(HANDLE_OF_GRAPH)->device != device)
        return fail(BAD, "a handle and its graphs belong to a device, which has to be current");
    Convolution conv = convolution_of(graph.part(OPERATIONS));
    auto uids = pack.all<int64_t>(UIDS);
    auto pointers = pack.all<char*>(POINTERS);
    std::map<int64_t, char*> memory;
    for (size_t n = 0; n < uids.size(); n++) memory[uids[n]] = pointers[n];
    for (const Tensor& t : {conv.x, conv.w, conv.y}) {
        if (!memory.count(t.uid)) return fail(BAD, "a tensor has no address");
        if (!lies_on(device, memory[t.uid])) return fail(BAD, "no memory of the device");
        if (int64_t(memory[t.uid]) % t.alignment) return fail(BAD, "misaligned pointer");
    }
    char* workspace = pack.one<char*>(WORKSPACE);
    int64_t size = plan.one<int64_t>(WORKSPACE_SIZE);
    if (size && !(lies_on(device, workspace) && lies_on(device, workspace + size - 1)))
        return fail(BAD, "the workspace is too small");
    Work work = [=, rounded = kernel_of(plan) == TENSOR_CORES] {
        if (size) std::memset(workspace, 0xcd, size);
        convolve(conv, memory, rounded);
    };
    return machine_enqueue(handle->stream, &work) ? fail(BAD, "no such stream") : OK;
}

Content& content(void* descriptor) { return *static_cast<Descriptor*>(descriptor)->content; }

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return 92800; }
size_t cudnnGetCudartVersion() { return 13000; }
const char* cudnnGetErrorString(int status) {
    return status == OK ? "CUDNN_STATUS_SUCCESS"
           : status == BAD ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED";
}
void cudnnGetLastErrorString(char* text, size_t size) {
    std::strncpy(text, last_error.c_str(), size);
    if (size) text[size - 1] = 0;
}

int cudnnCreate(void** handle) { *handle = new Handle; return OK; }
int cudnnDestroy(void* handle) { delete static_cast<Handle*>(handle); return OK; }
int cudnnSetStream(void* handle, void* stream) {
    static_cast<Handle*>(handle)->stream = stream;
    return OK;
}
int cudnnGetStream(void* handle, void** stream) {
    *stream = static_cast<Handle*>(handle)->stream;
    return OK;
}

int cudnnBackendCreateDescriptor(int type, void** descriptor) {
    *descriptor = new Descriptor{std::make_shared<Content>(Content{type})};
    return OK;
}
int cudnnBackendDestroyDescriptor(void* descriptor) {
    delete static_cast<Descriptor*>(descriptor);
    return OK;
}
int cudnnBackendFinalize(void* descriptor) {
    int status = finalized(content(descriptor));
    content(descriptor).final = status == OK;
    return status;
}
int cudnnBackendSetAttribute(void* descriptor, int name, int type, int64_t count, const void* given) {
    Content& c = content(descriptor);
    if (c.final) return fail(BAD, "a descriptor that is finalized does not change");
    if (type != PART) {
        auto bytes = static_cast<const char*>(given);
        c.values[name].assign(bytes, bytes + count * width(type));
        return OK;
    }
    c.parts[name].clear();
    for (int64_t n = 0; n < count; n++) {
        auto part = static_cast<Descriptor* const*>(given)[n]->content;
        if (!part->final) return fail(BAD, "a descriptor is finalized before others use it");
        c.parts[name].push_back(part);
    }
    return OK;
}
int cudnnBackendGetAttribute(void* descriptor, int name, int type, int64_t room, int64_t* count,
                             void* wanted) {
    Content& c = content(descriptor);
    if (!c.final) return fail(BAD, "a descriptor is finalized before it is read");
    int64_t found = type == PART ? c.parts[name].size() : c.values[name].size() / width(type);
    if (count) *count = found;
    if (!wanted) return OK;
    found = std::min(found, room);
    if (type != PART) std::memcpy(wanted, c.values[name].data(), found * width(type));
    else for (int64_t n = 0; n < found; n++)
        static_cast<Descriptor**>(wanted)[n]->content = c.parts[name][n];
    return OK;
}
int cudnnBackendExecute(void* handle, void* plan, void* pack) {
    return execute(static_cast<Handle*>(handle), content(plan), content(pack));
}
}
