#include "parts/opening.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "parts/clock.hpp"
#include "parts/metadata.hpp"
#include "parts/objects.hpp"
#include "parts/provider.hpp"

namespace cove::capi {
namespace {

/// Hands Cove's messages to the host, and ends with the last one who may write.
class HostLog final : public LogSink {
 public:
  HostLog(cove_log_fn log, UserData user) noexcept : log_(log), user_(std::move(user)) {}

  void write(LogLevel level, std::string_view message) override {
    // A message that finds no memory is lost; nothing else is.
    cove_error_free(run([&] {
      const std::string line(message);
      const CallbackScope scope;
      log_(user_.get(), static_cast<std::int32_t>(level), line.c_str());
      return ok();
    }));
  }

 private:
  const cove_log_fn log_;
  const UserData user_;
};

static_assert(static_cast<int>(LogLevel::kDebug) == COVE_LOG_DEBUG);
static_assert(static_cast<int>(LogLevel::kError) == COVE_LOG_ERROR);

/// What both sides know of the options, also where the host wants more than we can.
cove_open_options known_part(const cove_open_options* theirs) {
  cove_open_options known{};
  if (theirs == nullptr || !is_readable(rule_of<cove_open_options>(), theirs)) return known;
  std::memcpy(&known, theirs, std::min<std::size_t>(struct_size_of(theirs), sizeof known));
  return known;
}

/// Everything that the host gave, with what ends it; nothing is checked yet.
struct Taken {
  explicit Taken(const cove_open_options& known)
      : log(known.log),
        log_user(known.log_user_data, known.log_drop),
        clock(take_given(known.clock, &cove_clock::destroy)),
        metadata(take_given(known.metadata, &cove_metadata_store::destroy)),
        objects(take_given(known.objects, &cove_object_store::destroy)),
        provider(take_given(known.provider, &cove_provider::destroy)) {}

  cove_log_fn log;
  UserData log_user;
  Result<GivenPtr<cove_clock>> clock;
  Result<GivenPtr<cove_metadata_store>> metadata;
  Result<GivenPtr<cove_object_store>> objects;
  Result<GivenPtr<cove_provider>> provider;
};

/// Null where the host brings none.
template <class Slots>
Result<GivenPtr<Slots>> checked(Result<GivenPtr<Slots>> taken) {
  COVE_TRY(auto given, std::move(taken));
  if (given) COVE_TRY_VOID(check_given(given->slots));
  return given;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

Result<void> read_stores(Taken& taken, Parts& parts) {
  COVE_TRY(auto metadata, checked(std::move(taken.metadata)));
  if (metadata) {
    parts.make_metadata = [metadata, log = parts.log](std::shared_ptr<const PartTools> tools) {
      return Result(make_host_metadata(metadata, {std::move(tools), log}));
    };
  }
  COVE_TRY(auto objects, checked(std::move(taken.objects)));
  if (objects) {
    parts.make_objects = [objects, log = parts.log](std::shared_ptr<const PartTools> tools) {
      return Result(make_host_objects(objects, {std::move(tools), log}));
    };
  }
  return ok();
}

Result<void> read_provider(Taken& taken, Parts& parts) {
  COVE_TRY(auto provider, checked(std::move(taken.provider)));
  if (!provider) return ok();
  ProviderNames names{text_of(provider->slots.name), text_of(provider->slots.node)};
  parts.make_provider = [provider, names = std::move(names),
                         log = parts.log](std::shared_ptr<const PartTools> tools) {
    return Result(make_host_provider(provider, names, {std::move(tools), log}));
  };
  return ok();
}

}  // namespace

Result<Parts> take_parts(const cove_open_options* options) {
  Taken taken(known_part(options));
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_open_options.reserved0"));
  Parts parts;
  if (taken.log != nullptr) {
    parts.log = std::make_shared<HostLog>(taken.log, std::move(taken.log_user));
  }
  COVE_TRY(auto clock, checked(std::move(taken.clock)));
  if (clock) parts.clock = make_host_clock(std::move(clock));
  COVE_TRY_VOID(read_stores(taken, parts));
  COVE_TRY_VOID(read_provider(taken, parts));
  return parts;
}

}  // namespace cove::capi
