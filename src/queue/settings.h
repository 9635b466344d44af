#pragma once

#include "base/time.h"
#include "sched/spec.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::queue {

// The rules by which a running queue decides, as far as its command line may change them. The
// leader writes them where whoever asks (`codeflare explain`) finds them.
struct Settings {
  bool preemption = false;
  bool priority_slope = false;
  Duration holding_time{};
  bool quota_trees = true;  // QuotaSubtrees are honored
  Duration growth_cooldown{};
  sched::ElasticPolicy elastic_policy = sched::ElasticPolicy::throughput;
  // Of machines on demand; absent: unlimited.
  std::optional<std::int64_t> max_scaleout{};
  std::optional<double> scale_budget{};
  std::optional<double> scale_namespace_budget{};
  friend bool operator==(const Settings&, const Settings&) = default;
};

inline constexpr std::array<std::pair<std::string_view, sched::ElasticPolicy>, 3> kElasticPolicies =
    {{{"throughput", sched::ElasticPolicy::throughput},
      {"fair", sched::ElasticPolicy::fair},
      {"strict-priority", sched::ElasticPolicy::strict_priority}}};

// Training stands still for about so long when its group is formed anew.
inline constexpr Duration kResizeCost = std::chrono::seconds(5);

sched::Options core_options(const Settings& settings);

// One JSON object. Missing or unexpected members get their default: it may be of another
// version.
std::string to_text(const Settings& settings);
Settings settings_from(std::string_view text);

}  // namespace codeflare::queue
