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

// The one of this name, of the group that was named. Without one: of either group; if both have
// it, readers get the one of workload.codeflare.dev and a note about the other, and nothing is
// changed.
Task<Result<FoundWrapper>> find_wrapper(Session& session, KnownKind kind, std::string name,
                                        Use use);

// The noun of a name alone that no AppWrapper and no Ray cluster has: "trainingjob" or "run".
// Empty: a kind was typed, or no such object can be seen.
Task<std::string> noun_instead(Session& session, KnownKind kind, std::string name);

}  // namespace codeflare::cli
