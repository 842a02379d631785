// What the parts of the imaginary GPU know of each other.
#pragma once
#include <functional>

using Work = std::function<void()>;

extern "C" {
// Puts work into a stream, or into the graph that the stream captures; returns CUDA's error.
int machine_enqueue(void* stream, Work* work);
// Waits until a stream has done its work.
int machine_finish(void* stream);
// The thread's current device; a number from 0 on makes that one current.
int machine_device(int device);

// What kernels call: they wait for the other threads of the block, or of the warp.
void machine_wait_for_block();
void machine_wait_for_warp();
// Gives a value to the warp, and returns that of another lane.
void* machine_exchange(const void* value, unsigned long size, int lane);
}
