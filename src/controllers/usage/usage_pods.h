#pragma once

#include "base/time.h"
#include "model/gvk.h"
#include "model/pod.h"
#include "runtime/index.h"
#include "usage/interval.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::metering {

// The facts about a pod with the finalizer that counting needs.
struct MeteredPod {
  std::string name{};
  std::string uid{};
  std::string queue{};
  std::string job_uid{};
  std::string job_name{};
  std::string node{};
  usage::PodTimes times{};
  std::map<std::string, std::int64_t> units{};
  bool terminal = false;              // Succeeded or Failed
  std::optional<WallTime> deleted{};  // deletionTimestamp; the grace is over then
  bool may_go = false;                // deleted, and no node will report about it any more
};

// Nothing for a pod without the finalizer.
std::optional<MeteredPod> metered_pod(const model::Pod& pod);

// Pods with the finalizer, by namespace, as the informer shows them.
class UsagePods {
 public:
  UsagePods(runtime::Informer& pods, std::function<void(const std::string& ns)> changed);

  std::vector<MeteredPod> of(const std::string& ns) const { return pods_.of(ns); }

 private:
  runtime::Index<std::string, MeteredPod> pods_;
};

}  // namespace codeflare::controllers::metering
