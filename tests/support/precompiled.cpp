// The one source of its target that uses the precompiled header: without one CMake makes none.
