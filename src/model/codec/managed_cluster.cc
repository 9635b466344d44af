#include "model/codec/managed_cluster.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<ManagedClusterSpec>) {
  static constexpr Field kFields[] = {
      field<&ManagedClusterSpec::kubeconfig_secret>("kubeconfigSecret"),
      field<&ManagedClusterSpec::cost>("cost"),
      field<&ManagedClusterSpec::paused>("paused"),
      field<&ManagedClusterSpec::evict>("evict"),
      field<&ManagedClusterSpec::on_lost>("onLost"),
      field<&ManagedClusterSpec::lost_after>("lostAfter"),
      field<&ManagedClusterSpec::namespaces>("namespaces"),
      field<&ManagedClusterSpec::submitter>("submitter"),
      field<&ManagedClusterSpec::fixed_user>("fixedUser"),
      field<&ManagedClusterSpec::lost>("lost"),
  };
  static constexpr StructInfo kInfo = struct_info<ManagedClusterSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ManagedClusterStatus>) {
  static constexpr Field kFields[] = {
      field<&ManagedClusterStatus::conditions>("conditions"),
      field<&ManagedClusterStatus::nodes>("nodes"),
      field<&ManagedClusterStatus::capacity>("capacity"),
      field<&ManagedClusterStatus::free>("free"),
      field<&ManagedClusterStatus::dispatched>("dispatched"),
      field<&ManagedClusterStatus::waiting>("waiting"),
      field<&ManagedClusterStatus::last_seen>("lastSeen"),
      field<&ManagedClusterStatus::server>("server"),
      field<&ManagedClusterStatus::version>("version"),
      field<&ManagedClusterStatus::cluster_id>("clusterID"),
      field<&ManagedClusterStatus::fence>("fence"),
      field<&ManagedClusterStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<ManagedClusterStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ManagedCluster>) {
  static constexpr Field kFields[] = {
      field<&ManagedCluster::metadata>("metadata"),
      field<&ManagedCluster::spec>("spec"),
      field<&ManagedCluster::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<ManagedCluster>(kFields);
  return kInfo;
}

}  // namespace codeflare::model
