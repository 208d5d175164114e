#include "agent/files/directory_stream.hpp"

#include <cerrno>

namespace cove::agent {

DirectoryStream::DirectoryStream(base::UniqueFd directory) : stream_(::fdopendir(*directory)) {
  if (stream_) directory.release();
}

DirectoryStream::Entry DirectoryStream::next() {
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream_.get());
    if (entry == nullptr) return {{}, DT_UNKNOWN, errno};
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") return {name, entry->d_type, 0};
  }
}

void DirectoryStream::rewind() { ::rewinddir(stream_.get()); }

int DirectoryStream::fd() const { return ::dirfd(stream_.get()); }

}  // namespace cove::agent
