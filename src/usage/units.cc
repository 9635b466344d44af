#include "usage/units.h"

#include "model/pod_requests.h"

namespace codeflare::usage {

namespace {

constexpr std::int64_t kMib = 1 << 20;

}  // namespace

std::map<std::string, std::int64_t> units_of(const model::PodSpec& spec) {
  std::map<std::string, std::int64_t> units = {{std::string(kWorkers), 1}};
  for (const auto& [name, amount] : model::pod_requests(spec)) {
    if (amount.sign() <= 0) {
      continue;
    }
    if (name == "cpu") {
      units[std::string(kMilliCpu)] = amount.milli_value();
    } else if (name == "memory") {
      const std::int64_t bytes = amount.value();
      units[std::string(kMemoryMib)] = bytes / kMib + (bytes % kMib == 0 ? 0 : 1);
    } else if (name.contains('/')) {
      units[name] = amount.value();
    }
  }
  return units;
}

}  // namespace codeflare::usage
