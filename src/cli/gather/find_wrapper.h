#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/kinds.h"
#include "kube/object.h"

#include <cstdint>
#include <string>

namespace codeflare::cli {

struct FoundWrapper {
  KnownKind kind;  // with the group that it is of
  kube::ObjectRef object;
};

enum class Use : std::uint8_t { read, change };

// The one of this name, of the group that was named. Without one: of either group; if both have it,
// who reads gets the one of workload.codeflare.dev and is told of the other, and nothing is
// changed.
Task<Result<FoundWrapper>> find_wrapper(Session& session, KnownKind kind, std::string name,
                                        Use use);

}  // namespace codeflare::cli
