#pragma once

#include "base/env/env.h"
#include "kube/testing/scripted_target.h"
#include "net/http.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace codeflare::kube::testing {

// State that the service and the bodies of its open watches share.
struct ScriptedService::Shared {
  explicit Shared(std::size_t history_max) : store(history_max) {}

  ScriptedStore store;
  // Counted up to end or break all watches that are older.
  std::uint64_t ended = 0;
  std::uint64_t broken = 0;
  std::size_t open = 0;
};

struct ScriptedWatch {
  ScriptedService::Target target;
  std::uint64_t revision = 0;  // changes after this one are sent
  bool snapshot = false;       // begins with the objects as of `revision`
  bool marks_end = false;      // of the snapshot, with a bookmark
  bool bookmarks = false;
  Instant deadline{};
};

net::Body make_watch_body(Env env, std::shared_ptr<ScriptedService::Shared> shared,
                          const ScriptedOptions& options, ScriptedWatch watch);

}  // namespace codeflare::kube::testing
