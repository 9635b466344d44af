#pragma once

#include "base/time.h"
#include "sched/spec.h"

#include <string>
#include <string_view>

namespace codeflare::queue {

// The rules by which a running queue decides, as far as its command line may change them. The
// leader writes them where whoever asks (`codeflare explain`) finds them.
struct Settings {
  bool preemption = false;
  bool priority_slope = false;
  Duration holding_time{};
  bool quota_trees = true;  // QuotaSubtrees are heeded
  friend bool operator==(const Settings&, const Settings&) = default;
};

sched::Options core_options(const Settings& settings);

// One JSON object. What a text does not say, or says otherwise than expected, is as by default: it
// may be of another version.
std::string to_text(const Settings& settings);
Settings settings_from(std::string_view text);

}  // namespace codeflare::queue
