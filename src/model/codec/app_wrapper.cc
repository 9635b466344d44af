#include "model/codec/app_wrapper.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<CustomPodResources>) {
  static constexpr Field kFields[] = {
      field<&CustomPodResources::replicas>("replicas", Presence::always),
      field<&CustomPodResources::requests>("requests", Presence::always),
      field<&CustomPodResources::limits>("limits"),
  };
  static constexpr StructInfo kInfo = struct_info<CustomPodResources>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<GenericItem>) {
  static constexpr Field kFields[] = {
      field<&GenericItem::custom_pod_resources>("custompodresources"),
      field<&GenericItem::completion_status>("completionstatus"),
      field<&GenericItem::generic_template>("generictemplate"),
  };
  static constexpr StructInfo kInfo = struct_info<GenericItem>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapperResources>) {
  static constexpr Field kFields[] = {
      field<&AppWrapperResources::generic_items>("GenericItems"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapperResources>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Requeuing>) {
  static constexpr Field kFields[] = {
      field<&Requeuing::time_in_seconds>("timeInSeconds"),
      field<&Requeuing::initial_time_in_seconds>("initialTimeInSeconds"),
      field<&Requeuing::max_time_in_seconds>("maxTimeInSeconds"),
      field<&Requeuing::growth_type>("growthType"),
      field<&Requeuing::num_requeuings>("numRequeuings"),
      field<&Requeuing::max_num_requeuings>("maxNumRequeuings"),
      field<&Requeuing::force_deletion_time_in_seconds>("forceDeletionTimeInSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<Requeuing>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DispatchDuration>) {
  static constexpr Field kFields[] = {
      field<&DispatchDuration::expected>("expected"),
      field<&DispatchDuration::limit>("limit"),
      field<&DispatchDuration::overrun>("overrun"),
  };
  static constexpr StructInfo kInfo = struct_info<DispatchDuration>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SchedulingSpec>) {
  static constexpr Field kFields[] = {
      field<&SchedulingSpec::node_selector>("nodeSelector"),
      field<&SchedulingSpec::min_available>("minAvailable"),
      field<&SchedulingSpec::requeuing>("requeuing"),
      field<&SchedulingSpec::dispatch_duration>("dispatchDuration"),
  };
  static constexpr StructInfo kInfo = struct_info<SchedulingSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapperSpec>) {
  static constexpr Field kFields[] = {
      field<&AppWrapperSpec::priority>("priority"),
      field<&AppWrapperSpec::priority_slope>("priorityslope"),
      field<&AppWrapperSpec::suspend>("suspend"),
      field<&AppWrapperSpec::resources>("resources", Presence::always),
      field<&AppWrapperSpec::selector>("selector"),
      field<&AppWrapperSpec::scheduling_spec>("schedulingSpec"),
      field<&AppWrapperSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapperSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapperCondition>) {
  static constexpr Field kFields[] = {
      field<&AppWrapperCondition::type>("type", Presence::always),
      field<&AppWrapperCondition::status>("status", Presence::always),
      field<&AppWrapperCondition::last_update>("lastUpdateMicroTime"),
      field<&AppWrapperCondition::last_transition>("lastTransitionMicroTime"),
      field<&AppWrapperCondition::reason>("reason"),
      field<&AppWrapperCondition::message>("message"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapperCondition>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PlannedPlace>) {
  static constexpr Field kFields[] = {
      field<&PlannedPlace::pod_set>("podSet", Presence::always),
      field<&PlannedPlace::node>("node", Presence::always),
      field<&PlannedPlace::count>("count", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<PlannedPlace>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapperPlan>) {
  static constexpr Field kFields[] = {
      field<&AppWrapperPlan::places>("places", Presence::always),
      field<&AppWrapperPlan::started>("started"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapperPlan>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PendingPodConditions>) {
  static constexpr Field kFields[] = {
      field<&PendingPodConditions::pod_name>("podname"),
      field<&PendingPodConditions::conditions>("conditions"),
  };
  static constexpr StructInfo kInfo = struct_info<PendingPodConditions>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapperStatus>) {
  static constexpr Field kFields[] = {
      field<&AppWrapperStatus::pending>("pending"),
      field<&AppWrapperStatus::running>("running"),
      field<&AppWrapperStatus::succeeded>("Succeeded"),
      field<&AppWrapperStatus::failed>("failed"),
      field<&AppWrapperStatus::can_run>("canrun"),
      field<&AppWrapperStatus::state>("state"),
      field<&AppWrapperStatus::message>("message"),
      field<&AppWrapperStatus::system_priority>("systempriority"),
      field<&AppWrapperStatus::queue_job_state>("queuejobstate"),
      field<&AppWrapperStatus::controller_first_timestamp>("controllerfirsttimestamp"),
      field<&AppWrapperStatus::controller_first_dispatch_timestamp>(
          "controllerfirstdispatchtimestamp"),
      field<&AppWrapperStatus::filter_ignore>("filterignore"),
      field<&AppWrapperStatus::sender>("sender"),
      field<&AppWrapperStatus::conditions>("conditions"),
      field<&AppWrapperStatus::pending_pod_conditions>("pendingpodconditions"),
      field<&AppWrapperStatus::total_cpu>("totalcpu"),
      field<&AppWrapperStatus::total_memory>("totalmemory"),
      field<&AppWrapperStatus::total_gpu>("totalgpu"),
      field<&AppWrapperStatus::requeueing_time_in_seconds>("requeueingTimeInSeconds"),
      field<&AppWrapperStatus::number_of_requeueings>("numberOfRequeueings"),
      field<&AppWrapperStatus::plan>("plan"),
      field<&AppWrapperStatus::consumed_seconds>("consumedSeconds"),
      field<&AppWrapperStatus::finished>("finished"),
      field<&AppWrapperStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapperStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<AppWrapper>) {
  static constexpr Field kFields[] = {
      field<&AppWrapper::metadata>("metadata"),
      field<&AppWrapper::spec>("spec"),
      field<&AppWrapper::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<AppWrapper>(kFields);
  return kInfo;
}

// The base is the first and only part of it, so its members are found at the same address.
const StructInfo& describe(Tag<LegacyAppWrapper>) {
  static constexpr Field kFields[] = {
      field<&AppWrapper::metadata>("metadata"),
      field<&AppWrapper::spec>("spec"),
      field<&AppWrapper::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<LegacyAppWrapper>(kFields);
  return kInfo;
}

template struct List<AppWrapperCondition>;
template struct List<CustomPodResources>;
template struct List<GenericItem>;
template struct List<PendingPodConditions>;
template struct List<PlannedPlace>;

}  // namespace codeflare::model
