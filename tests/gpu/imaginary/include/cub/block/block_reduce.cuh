// CUB's sum over a block: each thread leaves what it has, the first one adds up.
#pragma once

namespace cub {

template <class T, int THREADS> class BlockReduce {
public:
    struct TempStorage { alignas(16) char parts[THREADS * sizeof(T)]; };
    BlockReduce(TempStorage& room) : parts(reinterpret_cast<T*>(room.parts)) {}

    template <int ITEMS, class Op> T Reduce(T (&items)[ITEMS], Op op) {
        T total = items[0];
        for (int i = 1; i < ITEMS; i++) total = op(total, items[i]);
        parts[threadIdx.x] = total;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int i = 1; i < THREADS; i++) total = op(total, parts[i]);
        return total;
    }

private:
    T* parts;
};

}  // namespace cub
