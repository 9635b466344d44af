#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Run (codeflare.dev/v1alpha1): one execution of an Application.
namespace codeflare::model {

struct ApplicationReference {
  std::string name;
  std::string ns;  // the Run's when empty
  Extra extra;

  friend bool operator==(const ApplicationReference&, const ApplicationReference&) = default;
};

struct RunSpec {
  ApplicationReference application;
  RawJson parameters;                  // an object: name to value
  std::optional<std::string> options;  // replaces the Application's
  StringMap env;
  std::string size;
  std::optional<std::int32_t> workers;  // 0: only a head
  std::optional<Quantity> cpu;
  std::optional<Quantity> memory;
  std::optional<std::int32_t> gpu;
  bool supports_gpu = false;
  std::string input;     // size of the data
  std::string priority;  // low, normal, high
  bool suspend = false;
  std::optional<std::int32_t> retries;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> expected_seconds;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  Extra extra;

  friend bool operator==(const RunSpec&, const RunSpec&) = default;
};

// A value that a Run got, and where from: "run", "application default/train", "built-in" ...
struct EffectiveValue {
  std::string name;
  std::string value;
  std::string from;
  Extra extra;

  friend bool operator==(const EffectiveValue&, const EffectiveValue&) = default;
};

namespace run_phase {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kStarting = "Starting";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kFailed = "Failed";
}  // namespace run_phase

struct RunStatus {
  std::string phase;  // run_phase
  std::string reason;
  std::string message;
  List<Condition> conditions;  // Compiled, Dispatched, Completed, Failed
  std::string app_wrapper;     // of the same namespace, once it was made
  std::string api;
  std::string size;
  std::string head_pod;
  List<EffectiveValue> effective;
  std::string epoch;
  std::string progress;  // "42%"
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

struct Run {
  ObjectMeta metadata;
  RunSpec spec;
  RunStatus status;
  Extra extra;

  friend bool operator==(const Run&, const Run&) = default;
};

// Completed or Failed: its phase stays.
bool is_terminal(const RunStatus& status);

template <>
struct ResourceTraits<Run> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "Run";
  static constexpr std::string_view plural = "runs";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
