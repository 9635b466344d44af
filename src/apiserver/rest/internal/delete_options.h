#pragma once

#include "apiserver/rest/internal/server.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

enum class Propagation : std::uint8_t { unset, background, foreground, orphan };

// metav1.DeleteOptions, from the body or else from the query.
struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds{};
  Propagation propagation = Propagation::unset;
  std::optional<bool> orphan_dependents{};  // the legacy form of propagation
  std::optional<std::string> uid{};         // preconditions
  std::optional<std::string> resource_version{};
  bool dry_run = false;

  static Result<DeleteOptions> from_object(const json::Value& object);
  static Result<DeleteOptions> from_query(const Query& query);
};

Task<Result<DeleteOptions>> delete_options(Call& call);

}  // namespace codeflare::apiserver::internal
