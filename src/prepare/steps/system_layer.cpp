#include "prepare/steps/system_layer.hpp"

#include <string>

#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

// Files appear by a rename, so that another command never reads half of one. A key that is there
// already, with whatever value, is the user's.
constexpr std::string_view kScript = R"(set -e
umask 022
conf=/etc/pip.conf
if ! grep -Eq '^[[:space:]]*break-system-packages[[:space:]]*[=:]' "$conf" 2>/dev/null; then
  if grep -q '^\[global\]' "$conf" 2>/dev/null; then
    awk '{ print } /^\[global\]/ && !done { print "break-system-packages = true"; done = 1 }' \
      "$conf" > "$conf.cove"
  else
    { cat "$conf" 2>/dev/null || :; printf '[global]\nbreak-system-packages = true\n'; } \
      > "$conf.cove"
  fi
  mv "$conf.cove" "$conf"
fi
if [ -d /var/lib/dpkg ] && [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\n# No service manager runs here.\nexit 101\n' > /usr/sbin/policy-rc.d.cove
  chmod 755 /usr/sbin/policy-rc.d.cove
  mv /usr/sbin/policy-rc.d.cove /usr/sbin/policy-rc.d
fi
)";

Task<Result<void>> apply(PrepareContext& context) {
  ExecSpec spec;
  spec.argv = {"sh", "-s"};
  spec.stdin_data = std::string(kScript);
  spec.timeout = 30s;
  const std::string session;
  COVE_CO_TRY(const ExecResult result, co_await context.guest.run(session, spec, context.call));
  if (result.succeeded()) co_return ok();
  context.output = result.err.text();
  co_return Error(ErrorCode::kFailedPrecondition,
                  "the system layer's settings were not written: the command ended with " +
                      std::to_string(result.shell_code()))
      .with_context("output", base::escaped(result.err.text().substr(0, 500)));
}

}  // namespace

PrepareStep system_layer_step() {
  PrepareStep step;
  step.name = kSystemLayerStep;
  step.after = PrepareStage::kDirectories;
  step.policy = StepPolicy::kBestEffort;
  step.timeout = 60s;
  step.fingerprint = "1";
  step.apply = apply;
  return step;
}

std::string_view system_layer_script() { return kScript; }

}  // namespace cove::prepare
