// What every kernel begins with; compiled once.
#pragma once
#include "device.h"

#include <cuda_fp16.h>

#include <cupy/carray.cuh>
#include <cupy/complex.cuh>

#include <cupy/atomics.cuh>
