#include "model/codec/machines.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/node.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<MachineTypeSpec>) {
  static constexpr Field kFields[] = {
      field<&MachineTypeSpec::capacity>("capacity"),
      field<&MachineTypeSpec::labels>("labels"),
      field<&MachineTypeSpec::taints>("taints"),
      field<&MachineTypeSpec::provider>("provider"),
      field<&MachineTypeSpec::parameters>("parameters"),
      field<&MachineTypeSpec::max>("max"),
      field<&MachineTypeSpec::cost_per_hour>("costPerHour"),
      field<&MachineTypeSpec::start_seconds>("startSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineTypeSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineType>) {
  static constexpr Field kFields[] = {
      field<&MachineType::metadata>("metadata"),
      field<&MachineType::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineType>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineAmount>) {
  static constexpr Field kFields[] = {
      field<&MachineAmount::type>("type"),
      field<&MachineAmount::provider>("provider"),
      field<&MachineAmount::count>("count"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineAmount>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachinePods>) {
  static constexpr Field kFields[] = {
      field<&MachinePods::type>("type"),
      field<&MachinePods::count>("count"),
      field<&MachinePods::requests>("requests"),
  };
  static constexpr StructInfo kInfo = struct_info<MachinePods>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineWork>) {
  static constexpr Field kFields[] = {
      field<&MachineWork::kind>("kind"),
      field<&MachineWork::ns>("namespace"),
      field<&MachineWork::name>("name"),
      field<&MachineWork::uid>("uid"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineWork>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineRequestSpec>) {
  static constexpr Field kFields[] = {
      field<&MachineRequestSpec::machines>("machines"),
      field<&MachineRequestSpec::pods>("pods"),
      field<&MachineRequestSpec::work>("work"),
      field<&MachineRequestSpec::labels>("labels"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineRequestSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineState>) {
  static constexpr Field kFields[] = {
      field<&MachineState::name>("name"),
      field<&MachineState::type>("type"),
      field<&MachineState::node>("node"),
      field<&MachineState::phase>("phase"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineState>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineRequestStatus>) {
  static constexpr Field kFields[] = {
      field<&MachineRequestStatus::phase>("phase"),
      field<&MachineRequestStatus::message>("message"),
      field<&MachineRequestStatus::ready>("ready"),
      field<&MachineRequestStatus::machines>("machines"),
      field<&MachineRequestStatus::ready_time>("readyTime"),
      field<&MachineRequestStatus::retry_time>("retryTime"),
      field<&MachineRequestStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineRequestStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineRequest>) {
  static constexpr Field kFields[] = {
      field<&MachineRequest::metadata>("metadata"),
      field<&MachineRequest::spec>("spec"),
      field<&MachineRequest::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineRequest>(kFields);
  return kInfo;
}

template struct List<MachineAmount>;
template struct List<MachinePods>;
template struct List<MachineState>;

}  // namespace codeflare::model
