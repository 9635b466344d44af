#include "model/codec/meta.h"

#include "model/codec/describe.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<OwnerReference>) {
  static constexpr Field kFields[] = {
      field<&OwnerReference::api_version>("apiVersion", Presence::always),
      field<&OwnerReference::kind>("kind", Presence::always),
      field<&OwnerReference::name>("name", Presence::always),
      field<&OwnerReference::uid>("uid", Presence::always),
      field<&OwnerReference::controller>("controller"),
      field<&OwnerReference::block_owner_deletion>("blockOwnerDeletion"),
  };
  static constexpr StructInfo kInfo = struct_info<OwnerReference>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ManagedFieldsEntry>) {
  static constexpr Field kFields[] = {
      field<&ManagedFieldsEntry::manager>("manager"),
      field<&ManagedFieldsEntry::operation>("operation"),
      field<&ManagedFieldsEntry::api_version>("apiVersion"),
      field<&ManagedFieldsEntry::time>("time"),
      field<&ManagedFieldsEntry::fields_type>("fieldsType"),
      field<&ManagedFieldsEntry::fields_v1>("fieldsV1"),
      field<&ManagedFieldsEntry::subresource>("subresource"),
  };
  static constexpr StructInfo kInfo = struct_info<ManagedFieldsEntry>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ObjectMeta>) {
  static constexpr Field kFields[] = {
      field<&ObjectMeta::name>("name"),
      field<&ObjectMeta::generate_name>("generateName"),
      field<&ObjectMeta::ns>("namespace"),
      field<&ObjectMeta::uid>("uid"),
      field<&ObjectMeta::resource_version>("resourceVersion"),
      field<&ObjectMeta::generation>("generation"),
      field<&ObjectMeta::creation_timestamp>("creationTimestamp"),
      field<&ObjectMeta::deletion_timestamp>("deletionTimestamp"),
      field<&ObjectMeta::deletion_grace_period_seconds>("deletionGracePeriodSeconds"),
      field<&ObjectMeta::labels>("labels"),
      field<&ObjectMeta::annotations>("annotations"),
      field<&ObjectMeta::owner_references>("ownerReferences"),
      field<&ObjectMeta::finalizers>("finalizers"),
      field<&ObjectMeta::managed_fields>("managedFields"),
  };
  static constexpr StructInfo kInfo = struct_info<ObjectMeta>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ListMeta>) {
  static constexpr Field kFields[] = {
      field<&ListMeta::resource_version>("resourceVersion"),
      field<&ListMeta::continue_token>("continue"),
      field<&ListMeta::remaining_item_count>("remainingItemCount"),
  };
  static constexpr StructInfo kInfo = struct_info<ListMeta>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Condition>) {
  static constexpr Field kFields[] = {
      field<&Condition::type>("type", Presence::always),
      field<&Condition::observed_generation>("observedGeneration"),
      field<&Condition::status>("status", Presence::always),
      field<&Condition::last_probe_time>("lastProbeTime"),
      field<&Condition::last_heartbeat_time>("lastHeartbeatTime"),
      field<&Condition::last_update_time>("lastUpdateTime"),
      field<&Condition::last_transition_time>("lastTransitionTime"),
      field<&Condition::reason>("reason"),
      field<&Condition::message>("message"),
  };
  static constexpr StructInfo kInfo = struct_info<Condition>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SelectorExpression>) {
  static constexpr Field kFields[] = {
      field<&SelectorExpression::key>("key", Presence::always),
      field<&SelectorExpression::op>("operator", Presence::always),
      field<&SelectorExpression::values>("values"),
  };
  static constexpr StructInfo kInfo = struct_info<SelectorExpression>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<LabelSelector>) {
  static constexpr Field kFields[] = {
      field<&LabelSelector::match_labels>("matchLabels"),
      field<&LabelSelector::match_expressions>("matchExpressions"),
  };
  static constexpr StructInfo kInfo = struct_info<LabelSelector>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StatusCause>) {
  static constexpr Field kFields[] = {
      field<&StatusCause::reason>("reason"),
      field<&StatusCause::message>("message"),
      field<&StatusCause::field>("field"),
  };
  static constexpr StructInfo kInfo = struct_info<StatusCause>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StatusDetails>) {
  static constexpr Field kFields[] = {
      field<&StatusDetails::name>("name"),
      field<&StatusDetails::group>("group"),
      field<&StatusDetails::kind>("kind"),
      field<&StatusDetails::uid>("uid"),
      field<&StatusDetails::causes>("causes"),
      field<&StatusDetails::retry_after_seconds>("retryAfterSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<StatusDetails>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Status>) {
  static constexpr Field kFields[] = {
      field<&Status::metadata>("metadata"), field<&Status::status>("status"),
      field<&Status::message>("message"),   field<&Status::reason>("reason"),
      field<&Status::details>("details"),   field<&Status::code>("code"),
  };
  static constexpr StructInfo kInfo = struct_info<Status>(kFields, "v1", "Status");
  return kInfo;
}

template struct List<Condition>;
template struct List<ManagedFieldsEntry>;
template struct List<OwnerReference>;
template struct List<SelectorExpression>;
template struct List<StatusCause>;

}  // namespace codeflare::model
