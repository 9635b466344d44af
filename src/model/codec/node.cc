#include "model/codec/node.h"

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

const StructInfo& describe(Tag<Taint>) {
  static constexpr Field kFields[] = {
      field<&Taint::key>("key", Presence::always),
      field<&Taint::value>("value"),
      field<&Taint::effect>("effect", Presence::always),
      field<&Taint::time_added>("timeAdded"),
  };
  static constexpr StructInfo kInfo = struct_info<Taint>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeSpec>) {
  static constexpr Field kFields[] = {
      field<&NodeSpec::pod_cidr>("podCIDR"),       field<&NodeSpec::pod_cidrs>("podCIDRs"),
      field<&NodeSpec::provider_id>("providerID"), field<&NodeSpec::unschedulable>("unschedulable"),
      field<&NodeSpec::taints>("taints"),
  };
  static constexpr StructInfo kInfo = struct_info<NodeSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeAddress>) {
  static constexpr Field kFields[] = {
      field<&NodeAddress::type>("type", Presence::always),
      field<&NodeAddress::address>("address", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<NodeAddress>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeSystemInfo>) {
  static constexpr Field kFields[] = {
      field<&NodeSystemInfo::machine_id>("machineID", Presence::always),
      field<&NodeSystemInfo::system_uuid>("systemUUID", Presence::always),
      field<&NodeSystemInfo::boot_id>("bootID", Presence::always),
      field<&NodeSystemInfo::kernel_version>("kernelVersion", Presence::always),
      field<&NodeSystemInfo::os_image>("osImage", Presence::always),
      field<&NodeSystemInfo::container_runtime_version>("containerRuntimeVersion",
                                                        Presence::always),
      field<&NodeSystemInfo::kubelet_version>("kubeletVersion", Presence::always),
      field<&NodeSystemInfo::kube_proxy_version>("kubeProxyVersion", Presence::always),
      field<&NodeSystemInfo::operating_system>("operatingSystem", Presence::always),
      field<&NodeSystemInfo::architecture>("architecture", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<NodeSystemInfo>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DaemonEndpoint>) {
  static constexpr Field kFields[] = {
      field<&DaemonEndpoint::port>("Port", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<DaemonEndpoint>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeDaemonEndpoints>) {
  static constexpr Field kFields[] = {
      field<&NodeDaemonEndpoints::kubelet_endpoint>("kubeletEndpoint"),
  };
  static constexpr StructInfo kInfo = struct_info<NodeDaemonEndpoints>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerImage>) {
  static constexpr Field kFields[] = {
      field<&ContainerImage::names>("names", Presence::always),
      field<&ContainerImage::size_bytes>("sizeBytes"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerImage>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NodeStatus>) {
  static constexpr Field kFields[] = {
      field<&NodeStatus::capacity>("capacity"),
      field<&NodeStatus::allocatable>("allocatable"),
      field<&NodeStatus::phase>("phase"),
      field<&NodeStatus::conditions>("conditions"),
      field<&NodeStatus::addresses>("addresses"),
      field<&NodeStatus::daemon_endpoints>("daemonEndpoints"),
      field<&NodeStatus::node_info>("nodeInfo"),
      field<&NodeStatus::images>("images"),
  };
  static constexpr StructInfo kInfo = struct_info<NodeStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Node>) {
  static constexpr Field kFields[] = {
      field<&Node::metadata>("metadata"),
      field<&Node::spec>("spec"),
      field<&Node::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Node>(kFields);
  return kInfo;
}

template struct List<ContainerImage>;
template struct List<NodeAddress>;
template struct List<Taint>;

}  // namespace codeflare::model
