#include "agent/server/file_producers.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "agent/files/line_reader.hpp"
#include "agent/trees/tree_packer.hpp"
#include "agent/trees/tree_unpacker.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

class Lines final : public Producer {
 public:
  Lines(const Files& files, wire::ReadLinesRequest request)
      : files_(files), request_(std::move(request)) {}

  Result<Production> produce(std::size_t room) override {
    if (!is_found_) COVE_TRY_VOID(look());
    if (!is_found_) return Production{};
    Production made;
    const auto rest = std::as_bytes(std::span(slice_.text)).subspan(sent_);
    const auto piece = rest.first(std::min(room, rest.size()));
    made.data.assign(piece.begin(), piece.end());
    sent_ += piece.size();
    if (piece.size() == rest.size()) made.answer = wire::encode_line_slice(slice_);
    return made;
  }

 private:
  /// Looks at some more of the file.
  Result<void> look() {
    if (!reader_) {
      COVE_TRY(reader_, files_.open_lines(request_.path, request_.range));
    }
    COVE_TRY(is_found_, reader_->step());
    if (!is_found_) return ok();
    slice_ = reader_->take();
    reader_.reset();
    return ok();
  }

  const Files& files_;
  wire::ReadLinesRequest request_;
  std::unique_ptr<LineReader> reader_;
  bool is_found_ = false;
  LineSlice slice_;
  std::size_t sent_ = 0;
};

class TreeOut final : public Producer {
 public:
  TreeOut(const Files& files, wire::TreeOutRequest request)
      : files_(files), request_(std::move(request)) {}

  Result<Production> produce(std::size_t room) override {
    Production made;
    if (!packer_) {
      COVE_TRY(packer_, files_.begin_pack(request_.path));
      made.event = wire::encode_nothing();
    }
    if (room == 0) return made;
    COVE_TRY(made.data, packer_->next(room));
    sent_ += made.data.size();
    if (made.data.empty()) made.answer = wire::encode_count({sent_, ""});
    return made;
  }

 private:
  const Files& files_;
  wire::TreeOutRequest request_;
  std::unique_ptr<TreePacker> packer_;
  std::uint64_t sent_ = 0;
};

class TreeIn final : public Consumer {
 public:
  TreeIn(const Files& files, wire::TreeInRequest request)
      : files_(files), request_(std::move(request)) {}

  Result<void> begin() override {
    COVE_TRY(unpacker_, files_.begin_unpack(request_.path));
    return ok();
  }
  Result<void> take(ByteView bytes) override { return unpacker_->feed(bytes); }
  Result<Bytes> commit() override {
    COVE_TRY(const TreeCounts counts, unpacker_->finish());
    return wire::encode_tree_counts(counts);
  }

 private:
  const Files& files_;
  wire::TreeInRequest request_;
  std::unique_ptr<TreeUnpacker> unpacker_;
};

}  // namespace

std::unique_ptr<Producer> make_lines(const Files& files, const wire::ReadLinesRequest& request) {
  return std::make_unique<Lines>(files, request);
}

std::unique_ptr<Producer> make_tree_out(const Files& files, const wire::TreeOutRequest& request) {
  return std::make_unique<TreeOut>(files, request);
}

std::unique_ptr<Consumer> make_tree_in(const Files& files, const wire::TreeInRequest& request) {
  return std::make_unique<TreeIn>(files, request);
}

}  // namespace cove::agent
