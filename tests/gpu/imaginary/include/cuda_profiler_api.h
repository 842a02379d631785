// NVIDIA has this header in a package of its own.
#pragma once
extern "C" {
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
}
