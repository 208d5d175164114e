#include "agent/files/directory_stream.hpp"

#include <cerrno>

#include "base/system/next_entry.hpp"

namespace cove::agent {

DirectoryStream::DirectoryStream(base::UniqueFd directory) : stream_(::fdopendir(*directory)) {
  if (stream_) directory.release();
}

DirectoryStream::Entry DirectoryStream::next() {
  for (;;) {
    const dirent* entry = base::next_entry(stream_.get());
    if (entry == nullptr) return {{}, DT_UNKNOWN, errno};
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") return {name, entry->d_type, 0};
  }
}

void DirectoryStream::rewind() { ::rewinddir(stream_.get()); }

int DirectoryStream::fd() const { return ::dirfd(stream_.get()); }

}  // namespace cove::agent
