#include "prepare/steps/input_files.hpp"

#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "prepare/steps/input_names.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMostNumbers = 10'000;

/// The number that each file's name got, by key: what the step keeps.
using Numbers = std::map<std::string, std::uint32_t>;

Numbers read_note(const std::string& note) {
  Numbers numbers;
  const Result<nlohmann::json> map = base::parse_json(note);
  if (!map || !map->is_object()) return numbers;
  for (const auto& [key, number] : map->items()) {
    if (number.is_number_unsigned() && number.get<std::uint64_t>() < kMostNumbers) {
      numbers[key] = number.get<std::uint32_t>();
    }
  }
  return numbers;
}

std::string count_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

}  // namespace

/// One run of the step.
class InputFiles::Placing {
 public:
  Placing(const InputFiles& files, PrepareContext& context)
      : files_(files), context_(context), known_(read_note(context.note)) {}

  Task<Result<void>> run() {
    for (const InputContent& content : files_.contents_) {
      const std::string key = content.key();
      if (numbers_.contains(key)) continue;  // the same file twice
      COVE_CO_TRY(numbers_[key], co_await place(content, key));
    }
    context_.note = base::dump_json(nlohmann::json(numbers_));
    context_.reason = count_text(written_, "written, ") + count_text(kept_, "there already");
    co_return ok();
  }

 private:
  GuestPath path_of(const InputContent& content, std::uint32_t number) const {
    return {"", files_.directory_ + "/" + numbered(content.name, number)};
  }

  /// Finds or makes the first name that is the file's; returns its number.
  Task<Result<std::uint32_t>> place(const InputContent& content, const std::string& key) {
    const auto hint = known_.find(key);
    if (hint != known_.end()) {
      COVE_CO_TRY(const bool is_it, co_await looks_like(content, hint->second));
      if (is_it) co_return hint->second;
    }
    for (std::uint32_t number = 0; number < kMostNumbers; ++number) {
      if (taken_.contains(numbered(content.name, number))) continue;
      COVE_CO_TRY(const bool is_its, co_await try_name(content, number));
      if (is_its) co_return number;
    }
    co_return Error(ErrorCode::kAlreadyExists,
                    "there are 10,000 other files named " + base::quoted(content.name));
  }

  /// Whether what the note says is still a file of that size.
  Task<Result<bool>> looks_like(const InputContent& content, std::uint32_t number) {
    const GuestPath path = path_of(content, number);
    const Result<FileInfo> info = co_await context_.guest.stat(path, context_.call);
    if (!info && info.error().code() == ErrorCode::kNotFound) co_return false;
    if (!info) co_return info.error();
    const bool is_it =
        info->type == FileType::kRegular && content.size.value_or(info->size) == info->size;
    if (is_it) take(content, number, kept_);
    co_return is_it;
  }

  /// Writes the file where the name is free; else looks whether it is the same file.
  Task<Result<bool>> try_name(const InputContent& content, std::uint32_t number) {
    const GuestPath path = path_of(content, number);
    for (;;) {
      const Result<FileInfo> info = co_await context_.guest.stat(path, context_.call);
      if (!info && info.error().code() != ErrorCode::kNotFound) co_return info.error();
      if (info) {
        COVE_CO_TRY(const bool is_same, co_await has_content(content, path, *info));
        if (is_same) take(content, number, kept_);
        co_return is_same;
      }
      const Result<void> written = co_await write(content, path);
      if (written) {
        take(content, number, written_);
        co_return true;
      }
      // Somebody inside was faster: look at what it is now.
      if (written.error().code() != ErrorCode::kAlreadyExists) co_return written.error();
    }
  }

  Task<Result<bool>> has_content(const InputContent& content, const GuestPath& path,
                                 const FileInfo& info) {
    const bool may_be =
        info.type == FileType::kRegular && (!content.size || *content.size == info.size);
    if (!may_be) co_return false;
    const ReadRange whole;
    Result<GuestFile> there = co_await context_.guest.read_file(path, whole, context_.call);
    if (!there) co_return false;  // gone or closed meanwhile: another name will do
    COVE_CO_TRY(const auto ours, co_await open_content(content, files_.host_, context_.call));
    co_return co_await are_equal(*ours, *there->content, context_.call);
  }

  Task<Result<void>> write(const InputContent& content, const GuestPath& path) {
    if (context_.tell) context_.tell("writing " + content.name);
    COVE_CO_TRY(const auto source, co_await open_content(content, files_.host_, context_.call));
    const WriteOptions options{.if_absent = true};
    const Result<FileInfo> written =
        co_await context_.guest.write_file(path, *source, options, context_.call);
    if (!written) co_return written.error().with_context("file", content.name);
    co_return ok();
  }

  void take(const InputContent& content, std::uint32_t number, std::size_t& count) {
    taken_.insert(numbered(content.name, number));
    ++count;
  }

  const InputFiles& files_;
  PrepareContext& context_;
  const Numbers known_;
  Numbers numbers_;
  std::set<std::string> taken_;
  std::size_t written_ = 0;
  std::size_t kept_ = 0;
};

std::string InputFiles::fingerprint() const {
  base::Sha256 hash;
  for (const InputContent& content : contents_) hash.update(content.key());
  return hash.hex();
}

Task<Result<void>> InputFiles::place(PrepareContext& context) const {
  Placing placing(*this, context);
  co_return co_await placing.run();
}

std::optional<std::vector<std::string>> InputFiles::places(const std::string& note) const {
  const Numbers numbers = read_note(note);
  std::vector<std::string> places;
  for (const InputContent& content : contents_) {
    const auto found = numbers.find(content.key());
    if (found == numbers.end()) return std::nullopt;
    places.push_back(directory_ + "/" + numbered(content.name, found->second));
  }
  return places;
}

PrepareStep input_files_step(std::shared_ptr<const InputFiles> files, const std::string& session) {
  PrepareStep step;
  step.name = session.empty() ? "input_files" : "input_files/" + session;
  step.fingerprint = files->fingerprint();
  step.policy = StepPolicy::kRequired;
  step.timeout = 600s;
  step.after = PrepareStage::kInputFiles;
  step.apply = [files = std::move(files)](PrepareContext& context) {
    return files->place(context);
  };
  return step;
}

}  // namespace cove::prepare
