/// NoFiles: a guest whose files nobody asks for or searches.
#pragma once

#include <cove/guest.hpp>

namespace cove::testing {

/// `Base` is Guest, or a class between it and a test's guest.
template <class Base>
class NoFiles : public Base {
 public:
  Task<Result<GuestFile>> read_file(const GuestPath&, const ReadRange&,
                                    const CallContext&) override {
    co_return no_files();
  }
  Task<Result<LineSlice>> read_lines(const GuestPath&, const LineRange&,
                                     const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FileInfo>> write_file(const GuestPath&, ByteSource&, const WriteOptions&,
                                    const CallContext&) override {
    co_return no_files();
  }
  Task<Result<EditResult>> edit_file(const GuestPath&, const std::vector<Edit>&, const EditOptions&,
                                     const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FileInfo>> stat(const GuestPath&, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FilePage>> list(const GuestPath&, const ListOptions&, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<void>> make_directory(const GuestPath&, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<void>> remove(const GuestPath&, bool, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FileInfo>> move(const GuestPath&, const GuestPath&, const MoveOptions&,
                              const CallContext&) override {
    co_return no_files();
  }
  Task<Result<TreeCounts>> copy(const GuestPath&, const GuestPath&, const CopyOptions&,
                                const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FileInfo>> set_mode(const GuestPath&, std::uint32_t, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<FileInfo>> make_symlink(const GuestPath&, const std::string&,
                                      const CallContext&) override {
    co_return no_files();
  }
  Task<Result<std::unique_ptr<ByteSource>>> read_tree(const GuestPath&,
                                                      const CallContext&) override {
    co_return no_files();
  }
  Task<Result<TreeCounts>> write_tree(const GuestPath&, ByteSource&, const CallContext&) override {
    co_return no_files();
  }
  Task<Result<std::unique_ptr<GuestWatch>>> watch(const GuestPath&, const WatchOptions&,
                                                  const CallContext&) override {
    co_return no_files();
  }
  Task<Result<std::unique_ptr<GrepStream>>> grep(const GuestPath&, const GrepQuery&,
                                                 const CallContext&) override {
    co_return no_files();
  }
  Task<Result<std::unique_ptr<FindStream>>> find(const GuestPath&, const FindQuery&,
                                                 const CallContext&) override {
    co_return no_files();
  }

 private:
  static Error no_files() { return Error(ErrorCode::kUnsupported, "no files here"); }
};

}  // namespace cove::testing
