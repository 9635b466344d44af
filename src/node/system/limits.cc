#include "node/system/limits.h"

#include "model/pod_requests.h"

#include <algorithm>
#include <array>

namespace codeflare::node {

namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kQuotaUsMin = 1000;
constexpr std::int64_t kSharesMin = 2;
constexpr std::int64_t kSharesMax = 262'144;
// Ray's head alone has about a thousand threads.
constexpr std::int64_t kSoftProcesses = 2048;
constexpr std::int64_t kSoftProcessesEach = 256;  // processor
constexpr int kNoRequest = 15;
constexpr int kWholeProcessor = 5;
constexpr int kNicenessMax = 19;
constexpr int kPerHalf = 3;  // weights halve about every three levels

constexpr std::int32_t kOomGuaranteed = 2;
constexpr std::int32_t kOomBurstableMin = 3;
constexpr std::int32_t kOomBurstableMax = 999;
constexpr std::int32_t kOomBestEffort = 1000;

// Of memory and processors, which alone count for a pod's quality of service.
bool asks_for_nothing(const model::Container& container) {
  const auto none = [](const model::ResourceList& list) {
    return list.get("cpu").is_zero() && list.get("memory").is_zero();
  };
  return none(container.resources.requests) && none(container.resources.limits);
}

// A limit without a request is both.
bool is_guaranteed(const model::Container& container) {
  return std::ranges::all_of(std::array{"cpu", "memory"}, [&](const char* name) {
    const model::Quantity* limit = container.resources.limits.find(name);
    const model::Quantity* request = container.resources.requests.find(name);
    return limit != nullptr && !limit->is_zero() && (request == nullptr || *request == *limit);
  });
}

template <typename Test>
bool all_containers(const model::PodSpec& spec, Test test) {
  return std::ranges::all_of(spec.containers, test) &&
         std::ranges::all_of(spec.init_containers, test);
}

std::int64_t shares_of(std::int64_t milli) {
  return std::clamp(milli * 1024 / 1000, kSharesMin, kSharesMax);
}

// The range of version 1 spread over 1 to 10000, as container runtimes do it.
std::int64_t weight_of(std::int64_t milli) {
  return 1 + (shares_of(milli) - kSharesMin) * 9999 / (kSharesMax - kSharesMin);
}

std::int64_t quota_of(std::int64_t milli) {
  return std::max(milli * kPeriodUs / 1000, kQuotaUsMin);
}

std::vector<GroupSetting> settings_v1(const ResourceBounds& bounds) {
  std::vector<GroupSetting> settings;
  if (bounds.memory_limit > 0) {
    const std::string bytes = std::to_string(bounds.memory_limit);
    settings.push_back({"memory", "memory.limit_in_bytes", bytes});
    settings.push_back({"memory", "memory.memsw.limit_in_bytes", bytes, true});
  }
  settings.push_back({"cpu", "cpu.shares", std::to_string(shares_of(bounds.cpu_request_milli))});
  if (bounds.cpu_limit_milli > 0) {
    settings.push_back({"cpu", "cpu.cfs_period_us", std::to_string(kPeriodUs), true});
    settings.push_back(
        {"cpu", "cpu.cfs_quota_us", std::to_string(quota_of(bounds.cpu_limit_milli)), true});
  }
  if (bounds.pids_limit > 0) {
    settings.push_back({"pids", "pids.max", std::to_string(bounds.pids_limit)});
  }
  return settings;
}

std::vector<GroupSetting> settings_v2(const ResourceBounds& bounds) {
  std::vector<GroupSetting> settings;
  if (bounds.memory_limit > 0) {
    settings.push_back({"memory", "memory.max", std::to_string(bounds.memory_limit)});
    settings.push_back({"memory", "memory.swap.max", "0", true});
    if (!bounds.holds_others) {
      settings.push_back({"memory", "memory.oom.group", "1", true});
    }
  }
  settings.push_back({"cpu", "cpu.weight", std::to_string(weight_of(bounds.cpu_request_milli))});
  if (bounds.cpu_limit_milli > 0) {
    settings.push_back(
        {"cpu", "cpu.max",
         std::to_string(quota_of(bounds.cpu_limit_milli)) + " " + std::to_string(kPeriodUs)});
  }
  if (bounds.pids_limit > 0) {
    settings.push_back({"pids", "pids.max", std::to_string(bounds.pids_limit)});
  }
  return settings;
}

}  // namespace

ResourceBounds bounds_of(const model::Container& container) {
  const model::ResourceRequirements& resources = container.resources;
  ResourceBounds bounds{.memory_limit = resources.limits.get("memory").value(),
                        .cpu_limit_milli = resources.limits.get("cpu").milli_value()};
  const model::Quantity* request = resources.requests.find("cpu");
  bounds.cpu_request_milli = request == nullptr ? bounds.cpu_limit_milli : request->milli_value();
  return bounds;
}

ResourceBounds bounds_of(const model::PodSpec& spec) {
  const auto has_limit = [](const model::Container& container) {
    return bounds_of(container).memory_limit > 0;
  };
  const bool all_have = all_containers(spec, has_limit);
  const bool has_own = spec.resources && spec.resources->limits.find("memory") != nullptr;
  return {.memory_limit = all_have || has_own ? model::pod_limits(spec).get("memory").value() : 0,
          .cpu_request_milli = model::pod_requests(spec).get("cpu").milli_value(),
          .pids_limit = kProcessesMax,
          .holds_others = true};
}

std::vector<GroupSetting> group_settings(GroupVersion version, const ResourceBounds& bounds) {
  return version == GroupVersion::v1 ? settings_v1(bounds) : settings_v2(bounds);
}

std::int32_t oom_score_of(const model::PodSpec& spec, const model::Container& container,
                          std::int64_t memory) {
  if (all_containers(spec, asks_for_nothing)) {
    return kOomBestEffort;
  }
  if (all_containers(spec, is_guaranteed)) {
    return kOomGuaranteed;
  }
  const model::ResourceRequirements& resources = container.resources;
  const model::Quantity* given = resources.requests.find("memory");
  const std::int64_t request =
      given == nullptr ? resources.limits.get("memory").value() : given->value();
  if (memory <= 0 || request >= memory) {
    return memory <= 0 ? kOomBurstableMax : kOomBurstableMin;
  }
  return std::clamp(static_cast<std::int32_t>(1000 - 1000 * request / memory), kOomBurstableMin,
                    kOomBurstableMax);
}

std::int64_t soft_processes_max(std::int64_t processors) {
  return std::clamp(processors * kSoftProcessesEach, kSoftProcesses, kProcessesMax);
}

int niceness_of(std::int64_t cpu_request_milli) {
  if (cpu_request_milli <= 0) {
    return kNoRequest;
  }
  int niceness = kWholeProcessor;
  for (std::int64_t part = 1000; part > cpu_request_milli && niceness < kNicenessMax; part /= 2) {
    niceness += kPerHalf;
  }
  return std::min(niceness, kNicenessMax);
}

}  // namespace codeflare::node
