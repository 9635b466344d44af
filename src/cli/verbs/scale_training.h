#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kScale;
extern const Verb kScaleTraining;

struct ScaleTrainingFlags {
  std::string name;
  std::optional<std::int64_t> min{};
  std::optional<std::int64_t> max{};
  std::optional<std::int64_t> size{};  // desiredSize; 0 removes it
};
// `codeflare scale tj NAME --min N --max N --size N`: one patch, checked before it is sent.
Task<int> run_scale_training(Session& session, ScaleTrainingFlags flags);

}  // namespace codeflare::cli
