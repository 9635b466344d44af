#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "up/state.h"

#include <optional>
#include <string>
#include <utility>

namespace codeflare::up {

// The public face of a cluster that runs in this process: DIR/up.json and a context in the user's
// kubeconfig. Announce it once it is ready, withdraw it when it has ended.
class UpPresence {
 public:
  struct Options {
    std::string directory;
    bool edit_kubeconfig = true;
  };
  UpPresence(Env env, Options options) : env_(env), options_(std::move(options)) {}

  // Fails when another process runs in the directory.
  Task<Result<void>> check_free();
  // Fills in the process and the context. A kubeconfig that cannot be written does not prevent the
  // run: the warning says it.
  Task<Result<UpState>> announce(UpState state);
  // Both are done even if one fails.
  Task<Result<void>> withdraw();

 private:
  Env env_;
  Options options_;
  AddedContext earlier_;  // of a run that was killed
  std::optional<UpState> announced_;
};

// Takes away what a cluster left that did not end in good order.
Task<Result<void>> forget_up(Env env, std::string directory, UpState state);

// "codeflare up (process 12) runs in DIR since 2026-...".
std::string describe_running(const UpState& state, const std::string& directory);

}  // namespace codeflare::up
