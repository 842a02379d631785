// CuPy's module for Thrust names the version.
#pragma once
#define THRUST_VERSION 300000
