#include "model/codec/service.h"

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

const StructInfo& describe(Tag<ServicePort>) {
  static constexpr Field kFields[] = {
      field<&ServicePort::name>("name"),
      field<&ServicePort::protocol>("protocol"),
      field<&ServicePort::app_protocol>("appProtocol"),
      field<&ServicePort::port>("port", Presence::always),
      field<&ServicePort::target_port>("targetPort"),
      field<&ServicePort::node_port>("nodePort"),
  };
  static constexpr StructInfo kInfo = struct_info<ServicePort>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ServiceSpec>) {
  static constexpr Field kFields[] = {
      field<&ServiceSpec::ports>("ports"),
      field<&ServiceSpec::selector>("selector"),
      field<&ServiceSpec::cluster_ip>("clusterIP"),
      field<&ServiceSpec::cluster_ips>("clusterIPs"),
      field<&ServiceSpec::type>("type"),
      field<&ServiceSpec::external_ips>("externalIPs"),
      field<&ServiceSpec::session_affinity>("sessionAffinity"),
      field<&ServiceSpec::external_name>("externalName"),
      field<&ServiceSpec::publish_not_ready_addresses>("publishNotReadyAddresses"),
      field<&ServiceSpec::ip_families>("ipFamilies"),
      field<&ServiceSpec::ip_family_policy>("ipFamilyPolicy"),
      field<&ServiceSpec::internal_traffic_policy>("internalTrafficPolicy"),
  };
  static constexpr StructInfo kInfo = struct_info<ServiceSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<LoadBalancerIngress>) {
  static constexpr Field kFields[] = {
      field<&LoadBalancerIngress::ip>("ip"),
      field<&LoadBalancerIngress::hostname>("hostname"),
  };
  static constexpr StructInfo kInfo = struct_info<LoadBalancerIngress>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<LoadBalancerStatus>) {
  static constexpr Field kFields[] = {
      field<&LoadBalancerStatus::ingress>("ingress"),
  };
  static constexpr StructInfo kInfo = struct_info<LoadBalancerStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ServiceStatus>) {
  static constexpr Field kFields[] = {
      field<&ServiceStatus::load_balancer>("loadBalancer"),
      field<&ServiceStatus::conditions>("conditions"),
  };
  static constexpr StructInfo kInfo = struct_info<ServiceStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Service>) {
  static constexpr Field kFields[] = {
      field<&Service::metadata>("metadata"),
      field<&Service::spec>("spec"),
      field<&Service::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Service>(kFields);
  return kInfo;
}

template struct List<LoadBalancerIngress>;
template struct List<ServicePort>;

}  // namespace codeflare::model
