#pragma once

#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// AppWrapper v1beta1 (workload.codeflare.dev, formerly mcad.ibm.com): objects that wait in the
// queue together and are created together. JSON names keep MCAD's odd spelling; see the codec.
namespace codeflare::model {

// `replicas` pods of this size; where present they replace what the template says of counts and
// requests.
struct CustomPodResources {
  std::int32_t replicas = 0;
  ResourceList requests;
  ResourceList limits;
  Extra extra;

  friend bool operator==(const CustomPodResources&, const CustomPodResources&) = default;
};

// One wrapped object. MCAD's fields that nothing acts on (replicas, minavailable, allocated,
// priority, priorityslope) stay in `extra`.
struct GenericItem {
  RawJson generic_template;  // the whole object
  List<CustomPodResources> custom_pod_resources;
  // Words, separated by commas; the item is complete when a condition that is True has a type
  // containing one of them, in any case.
  std::string completion_status;
  Extra extra;

  friend bool operator==(const GenericItem&, const GenericItem&) = default;
};

struct AppWrapperResources {
  List<GenericItem> generic_items;
  Extra extra;

  friend bool operator==(const AppWrapperResources&, const AppWrapperResources&) = default;
};

struct Requeuing {
  std::optional<std::int64_t> time_in_seconds;      // 300 by the CRD
  std::int64_t initial_time_in_seconds = 0;         // MCAD's own; not used
  std::int64_t max_time_in_seconds = 0;             // 0: no cap
  std::string growth_type;                          // "exponential" (default), "linear", "none"
  std::int64_t num_requeuings = 0;                  // MCAD's own; not used
  std::int64_t max_num_requeuings = 0;              // 0: no limit
  std::int64_t force_deletion_time_in_seconds = 0;  // 0: the controller's own deadline
  Extra extra;

  friend bool operator==(const Requeuing&, const Requeuing&) = default;
};

struct DispatchDuration {
  std::int64_t expected = 0;  // seconds; feeds estimates, never kills
  std::int64_t limit = 0;     // seconds of dispatched time, summed over dispatches; 0: no limit
  bool overrun = false;       // MCAD's own; not used
  Extra extra;

  friend bool operator==(const DispatchDuration&, const DispatchDuration&) = default;
};

struct SchedulingSpec {
  StringMap node_selector;
  std::int64_t min_available = 0;  // health only: all pods of a gang are placed
  std::optional<Requeuing> requeuing;
  std::optional<DispatchDuration> dispatch_duration;
  Extra extra;

  friend bool operator==(const SchedulingSpec&, const SchedulingSpec&) = default;
};

struct AppWrapperSpec {
  std::int32_t priority = 0;
  std::optional<double> priority_slope;
  std::optional<bool> suspend;  // hold it, or take it back from the cluster
  AppWrapperResources resources;
  std::optional<LabelSelector> selector;
  std::optional<SchedulingSpec> scheduling_spec;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  Extra extra;

  friend bool operator==(const AppWrapperSpec&, const AppWrapperSpec&) = default;
};

// MCAD's own shape: history in order of first occurrence, one entry per type and reason; status is
// "True" always, except of Queued.
struct AppWrapperCondition {
  std::string type;
  std::string status;
  std::optional<MicroTime> last_update;
  std::optional<MicroTime> last_transition;
  std::string reason;
  std::string message;
  Extra extra;

  friend bool operator==(const AppWrapperCondition&, const AppWrapperCondition&) = default;
};

// `count` pods of a pod set (its position in the demand) have their place on the node.
struct PlannedPlace {
  std::int32_t pod_set = 0;
  std::string node;
  std::int64_t count = 0;
  Extra extra;

  friend bool operator==(const PlannedPlace&, const PlannedPlace&) = default;
};

// Where the gang was placed. Present as long as it holds anything: from the decision to start it
// until its objects and pods are gone. `started` is when it was dispatched.
struct AppWrapperPlan {
  List<PlannedPlace> places;
  std::optional<MicroTime> started;
  Extra extra;

  friend bool operator==(const AppWrapperPlan&, const AppWrapperPlan&) = default;
};

struct PendingPodConditions {
  std::string pod_name;
  RawJson conditions;
  Extra extra;

  friend bool operator==(const PendingPodConditions&, const PendingPodConditions&) = default;
};

struct AppWrapperStatus {
  std::int32_t pending = 0;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;  // "Succeeded" on the wire
  std::int32_t failed = 0;
  bool can_run = false;
  std::string state;  // Pending Running RunningHoldCompletion Completed Failed Deleted
  std::string message;
  std::optional<double> system_priority;
  std::string queue_job_state;  // the type of the newest MCAD condition
  std::optional<MicroTime> controller_first_timestamp;
  std::optional<MicroTime> controller_first_dispatch_timestamp;
  bool filter_ignore = false;
  std::string sender;
  List<AppWrapperCondition> conditions;
  List<PendingPodConditions> pending_pod_conditions;
  std::int64_t total_cpu = 0;     // millicores of running and succeeded pods
  std::int64_t total_memory = 0;  // bytes
  std::int64_t total_gpu = 0;
  std::int64_t requeueing_time_in_seconds = 0;  // the grown wait
  std::int64_t number_of_requeueings = 0;
  // Ours.
  std::optional<AppWrapperPlan> plan;
  std::int64_t consumed_seconds = 0;  // dispatched time of dispatches that have ended
  std::optional<MicroTime> finished;  // when it became Completed, Failed or Deleted
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const AppWrapperStatus&, const AppWrapperStatus&) = default;
};

struct AppWrapper {
  ObjectMeta metadata;
  AppWrapperSpec spec;
  AppWrapperStatus status;
  Extra extra;

  friend bool operator==(const AppWrapper&, const AppWrapper&) = default;
};

namespace app_wrapper_state {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kRunningHoldCompletion = "RunningHoldCompletion";
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kDeleted = "Deleted";
}  // namespace app_wrapper_state

// Completed, Failed or Deleted: it will not run again.
bool is_terminal(const AppWrapperStatus& status);

template <>
struct ResourceTraits<AppWrapper> {
  static constexpr std::string_view group = "workload.codeflare.dev";
  static constexpr std::string_view version = "v1beta1";
  static constexpr std::string_view api_version = "workload.codeflare.dev/v1beta1";
  static constexpr std::string_view kind = "AppWrapper";
  static constexpr std::string_view plural = "appwrappers";
  static constexpr bool namespaced = true;
};

inline constexpr std::string_view kLegacyAppWrapperGroup = "mcad.ibm.com";

// The same object under the group that MCAD used before v1.34.1, for typed clients and informers.
struct LegacyAppWrapper : AppWrapper {
  friend bool operator==(const LegacyAppWrapper&, const LegacyAppWrapper&) = default;
};

template <>
struct ResourceTraits<LegacyAppWrapper> {
  static constexpr std::string_view group = kLegacyAppWrapperGroup;
  static constexpr std::string_view version = "v1beta1";
  static constexpr std::string_view api_version = "mcad.ibm.com/v1beta1";
  static constexpr std::string_view kind = "AppWrapper";
  static constexpr std::string_view plural = "appwrappers";
  static constexpr bool namespaced = true;
};

// The group and version that an AppWrapper is written in. Both have the same fields.
enum class WrapperApi : std::uint8_t {
  workload_v1beta1,
  mcad_v1beta1,
};

constexpr std::string_view group_of(WrapperApi api) {
  return api == WrapperApi::mcad_v1beta1 ? ResourceTraits<LegacyAppWrapper>::group
                                         : ResourceTraits<AppWrapper>::group;
}

constexpr std::string_view api_version_of(WrapperApi api) {
  return api == WrapperApi::mcad_v1beta1 ? ResourceTraits<LegacyAppWrapper>::api_version
                                         : ResourceTraits<AppWrapper>::api_version;
}

// Behind the name of an AppWrapper, for people: empty, or " of mcad.ibm.com", because both groups
// may hold the same name.
inline std::string group_suffix(WrapperApi api) {
  return group_of(api) == ResourceTraits<AppWrapper>::group ? ""
                                                            : " of " + std::string(group_of(api));
}

}  // namespace codeflare::model
