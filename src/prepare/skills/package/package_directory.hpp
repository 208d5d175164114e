/// A directory of the host's machine as a Package.
#pragma once

#include <string>

#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// Reads it; blocks. No link is followed, also not the last part of `path`; a link within it is
/// kept as one. Errors: kNotFound; kFailedPrecondition - no directory; kPermissionDenied; those of
/// PackageBuilder; kUnsupported - a device, FIFO or socket.
Result<Package> read_package_directory(const std::string& shown, const std::string& path,
                                       PackageLimits limits = {});

/// A text that is another one after every change of the directory that size, mtime, ctime or inode
/// show; blocks. Errors: as above.
Result<std::string> directory_signature(const std::string& shown, const std::string& path,
                                        PackageLimits limits = {});

/// The bytes of a file, which lie in `store`; blocks. Errors: as above; kTooLarge - more than the
/// limits allow.
Result<ByteView> read_package_file(ContentStore& store, const std::string& shown,
                                   const std::string& path, PackageLimits limits = {});

}  // namespace cove::prepare
