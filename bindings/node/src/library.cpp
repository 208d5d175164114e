#include "library.hpp"

#include <dlfcn.h>

namespace cove_node {
namespace {

/// Own symbols first, since Node exports thousands of its OpenSSL, zlib and nghttp2. Under a
/// sanitizer its own functions must win over the library's.
int open_mode() {
  int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
#ifdef RTLD_DEEPBIND
  const bool sanitized = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
                         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
  if (!sanitized) mode |= RTLD_DEEPBIND;
#endif
  return mode;
}

template <class Function>
bool find(void* handle, const char* name, Function* out) {
  // SAFETY: dlsym gives a function of this name; its type is the one that cove.h declares.
  *out = reinterpret_cast<Function>(dlsym(handle, name));
  return *out != nullptr;
}

}  // namespace

std::shared_ptr<const Library> Library::load(const std::string& path, std::string* problem) {
  void* const handle = dlopen(path.c_str(), open_mode());
  if (handle == nullptr) {
    const char* const why = dlerror();
    *problem = why == nullptr ? "cannot be loaded" : why;
    return nullptr;
  }
  auto library = std::make_shared<Library>();
  const char* missing = nullptr;
#define COVE_FUNCTION(name) \
  if (!find(handle, #name, &library->name) && missing == nullptr) missing = #name;
#include "functions.def"
#undef COVE_FUNCTION
  if (missing == nullptr) return library;
  *problem = path + " is no libcove.so of this package's version: it has no " + missing;
  return nullptr;
}

}  // namespace cove_node
