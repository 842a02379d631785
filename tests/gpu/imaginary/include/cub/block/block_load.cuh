// CUB's loading of a tile: each thread takes neighbouring elements.
#pragma once

namespace cub {

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT };

template <class T, int THREADS, int ITEMS, BlockLoadAlgorithm> class BlockLoad {
public:
    struct TempStorage {};
    BlockLoad(TempStorage&) {}

    template <class From> void Load(From from, T (&items)[ITEMS], int valid, T otherwise) {
        for (int i = 0; i < ITEMS; i++) {
            int at = threadIdx.x * ITEMS + i;
            items[i] = at < valid ? T(from[at]) : otherwise;
        }
    }
};

}  // namespace cub
