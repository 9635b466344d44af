#pragma once

#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/placement.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// RunPolicy (codeflare.dev/v1alpha1): defaults, limits, priorities and placement of Runs.
namespace codeflare::model {

struct RunPolicyDefaults {
  std::string size;
  std::string priority;
  std::optional<std::int32_t> workers;
  std::optional<Quantity> cpu;
  std::optional<Quantity> memory;
  std::optional<std::int32_t> gpu;
  std::optional<std::int32_t> retries;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  Extra extra;

  friend bool operator==(const RunPolicyDefaults&, const RunPolicyDefaults&) = default;
};

struct RunPolicyBounds {
  std::optional<Quantity> minimum;
  std::optional<Quantity> maximum;
  Extra extra;

  friend bool operator==(const RunPolicyBounds&, const RunPolicyBounds&) = default;
};

struct RunPolicyLimits {
  // By field: workers, cpu, memory, gpu, retries, activeDeadlineSeconds.
  std::map<std::string, RunPolicyBounds, std::less<>> values;
  List<std::string> sizes;       // allowed ones; empty: all
  List<std::string> priorities;  // likewise
  Extra extra;

  friend bool operator==(const RunPolicyLimits&, const RunPolicyLimits&) = default;
};

struct RunPolicyPriority {
  std::int32_t value = 0;
  std::string priority_class_name;
  Extra extra;

  friend bool operator==(const RunPolicyPriority&, const RunPolicyPriority&) = default;
};

struct RunPolicyPlacement {
  List<std::string> zones;
  List<std::string> regions;
  StringMap node_labels;
  List<Toleration> tolerations;
  bool preferred = false;  // zones, regions and labels are a wish
  Extra extra;

  friend bool operator==(const RunPolicyPlacement&, const RunPolicyPlacement&) = default;
};

struct RunPolicySpec {
  std::optional<std::int32_t> priority;  // the lowest number wins; 1 when absent
  std::optional<LabelSelector> namespace_selector;
  List<std::string> applications;  // NAME or NAMESPACE/NAME; empty: all
  std::optional<RunPolicyDefaults> defaults;
  std::optional<RunPolicyLimits> limits;
  std::map<std::string, RunPolicyPriority, std::less<>> priorities;  // low, normal, high
  std::optional<RunPolicyPlacement> placement;
  Extra extra;

  friend bool operator==(const RunPolicySpec&, const RunPolicySpec&) = default;
};

struct RunPolicy {
  ObjectMeta metadata;
  RunPolicySpec spec;
  Extra extra;

  friend bool operator==(const RunPolicy&, const RunPolicy&) = default;
};

template <>
struct ResourceTraits<RunPolicy> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "RunPolicy";
  static constexpr std::string_view plural = "runpolicies";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
