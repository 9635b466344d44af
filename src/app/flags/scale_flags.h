#pragma once

#include "base/result.h"
#include "controllers/scale/scale_controllers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare {

// Machines on demand, as typed.
struct ScaleFlags {
  std::vector<std::string> machine_types;  // of `codeflare up`
  std::optional<std::int64_t> max_scaleout;
  std::optional<double> budget;
  std::optional<double> namespace_budget;
  std::string timeout = "15m";
  std::string down_after = "5m";
};

void add_scale_limits(CLI::App& role, ScaleFlags& flags);
// The error names the flag.
Result<controllers::scale::ScaleOptions> parse_scale(const ScaleFlags& flags);

}  // namespace codeflare
