// LAPACK, as NumPy brings it along: its names begin with `scipy_`, its integers have 64 bits.
#pragma once
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

inline void* lapack_library() {
    static void* library = [] {
        std::string path;
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* found) {
            if (std::strstr(info->dlpi_name, "openblas")) *static_cast<std::string*>(found) = info->dlpi_name;
            return 0;
        }, &path);
        return dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    }();
    return library;
}

// Calls a routine with pointers to its arguments, as Fortran wants it.
template <class... A> void lapack(const std::string& name, A*... arguments) {
    auto routine = reinterpret_cast<void (*)(A*...)>(
        dlsym(lapack_library(), ("scipy_" + name + "_64_").c_str()));
    if (!routine) {
        std::fprintf(stderr, "no %s in NumPy's LAPACK\n", name.c_str());
        std::abort();
    }
    routine(arguments...);
}

template <class T> const char* letter();
template <> inline const char* letter<float>() { return "s"; }
template <> inline const char* letter<double>() { return "d"; }
