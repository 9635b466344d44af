#include "model/codec/placement.h"

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

const StructInfo& describe(Tag<NodeSelectorTerm>) {
  static constexpr Field kFields[] = {
      field<&NodeSelectorTerm::match_expressions>("matchExpressions"),
      field<&NodeSelectorTerm::match_fields>("matchFields"),
  };
  static constexpr StructInfo kInfo = struct_info<NodeSelectorTerm>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeSelector>) {
  static constexpr Field kFields[] = {
      field<&NodeSelector::node_selector_terms>("nodeSelectorTerms", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<NodeSelector>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PreferredSchedulingTerm>) {
  static constexpr Field kFields[] = {
      field<&PreferredSchedulingTerm::weight>("weight", Presence::always),
      field<&PreferredSchedulingTerm::preference>("preference", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<PreferredSchedulingTerm>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeAffinity>) {
  static constexpr Field kFields[] = {
      field<&NodeAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution"),
      field<&NodeAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution"),
  };
  static constexpr StructInfo kInfo = struct_info<NodeAffinity>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodAffinityTerm>) {
  static constexpr Field kFields[] = {
      field<&PodAffinityTerm::label_selector>("labelSelector"),
      field<&PodAffinityTerm::namespaces>("namespaces"),
      field<&PodAffinityTerm::topology_key>("topologyKey", Presence::always),
      field<&PodAffinityTerm::namespace_selector>("namespaceSelector"),
      field<&PodAffinityTerm::match_label_keys>("matchLabelKeys"),
      field<&PodAffinityTerm::mismatch_label_keys>("mismatchLabelKeys"),
  };
  static constexpr StructInfo kInfo = struct_info<PodAffinityTerm>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<WeightedPodAffinityTerm>) {
  static constexpr Field kFields[] = {
      field<&WeightedPodAffinityTerm::weight>("weight", Presence::always),
      field<&WeightedPodAffinityTerm::pod_affinity_term>("podAffinityTerm", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<WeightedPodAffinityTerm>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodAffinity>) {
  static constexpr Field kFields[] = {
      field<&PodAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution"),
      field<&PodAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution"),
  };
  static constexpr StructInfo kInfo = struct_info<PodAffinity>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Affinity>) {
  static constexpr Field kFields[] = {
      field<&Affinity::node_affinity>("nodeAffinity"),
      field<&Affinity::pod_affinity>("podAffinity"),
      field<&Affinity::pod_anti_affinity>("podAntiAffinity"),
  };
  static constexpr StructInfo kInfo = struct_info<Affinity>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Toleration>) {
  static constexpr Field kFields[] = {
      field<&Toleration::key>("key"),
      field<&Toleration::op>("operator"),
      field<&Toleration::value>("value"),
      field<&Toleration::effect>("effect"),
      field<&Toleration::toleration_seconds>("tolerationSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<Toleration>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TopologySpreadConstraint>) {
  static constexpr Field kFields[] = {
      field<&TopologySpreadConstraint::max_skew>("maxSkew", Presence::always),
      field<&TopologySpreadConstraint::topology_key>("topologyKey", Presence::always),
      field<&TopologySpreadConstraint::when_unsatisfiable>("whenUnsatisfiable", Presence::always),
      field<&TopologySpreadConstraint::label_selector>("labelSelector"),
      field<&TopologySpreadConstraint::min_domains>("minDomains"),
      field<&TopologySpreadConstraint::node_affinity_policy>("nodeAffinityPolicy"),
      field<&TopologySpreadConstraint::node_taints_policy>("nodeTaintsPolicy"),
      field<&TopologySpreadConstraint::match_label_keys>("matchLabelKeys"),
  };
  static constexpr StructInfo kInfo = struct_info<TopologySpreadConstraint>(kFields);
  return kInfo;
}

template struct List<NodeSelectorTerm>;
template struct List<PodAffinityTerm>;
template struct List<PreferredSchedulingTerm>;
template struct List<Toleration>;
template struct List<TopologySpreadConstraint>;
template struct List<WeightedPodAffinityTerm>;

}  // namespace codeflare::model
