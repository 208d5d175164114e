/// What a child may use that shares this process's memory (CLONE_VM): system calls without the C
/// library, so nothing is written to errno or anything else that belongs to a thread, and no
/// sanitizer takes notice.
#pragma once

/// The C library's other name of clone(). A sanitizer's runtime puts itself before the public one:
/// it keeps the argument on the caller's stack, and takes a child that shares the memory for one
/// of fork(), which breaks its own records.
extern "C" int cove_unwatched_clone(int (*body)(void*), void* stack_top, int flags, void* argument,
                                    ...) __asm__("__clone");

namespace cove::base {

#define COVE_UNWATCHED __attribute__((no_sanitize("address", "undefined", "thread")))
#define COVE_BARE COVE_UNWATCHED __attribute__((always_inline)) inline

#if defined(__x86_64__)

/// Returns the kernel's own answer: a negative error number where it fails.
COVE_BARE long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                           long e = 0) noexcept {
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  // SAFETY: the x86-64 system call convention; the kernel keeps all but rax, rcx and r11.
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

COVE_BARE long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                           long e = 0) noexcept {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  // SAFETY: the arm64 system call convention; the kernel keeps all but x0.
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}

#else
#error "Cove knows the system calls of x86-64 and arm64 only"
#endif

template <class T>
COVE_BARE long as_argument(T* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

}  // namespace cove::base
