// A library that CuPy loads and does not call.
