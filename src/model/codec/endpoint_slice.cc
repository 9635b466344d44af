#include "model/codec/endpoint_slice.h"

#include "model/codec/container.h"
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

const StructInfo& describe(Tag<EndpointConditions>) {
  static constexpr Field kFields[] = {
      field<&EndpointConditions::ready>("ready"),
      field<&EndpointConditions::serving>("serving"),
      field<&EndpointConditions::terminating>("terminating"),
  };
  static constexpr StructInfo kInfo = struct_info<EndpointConditions>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Endpoint>) {
  static constexpr Field kFields[] = {
      field<&Endpoint::addresses>("addresses", Presence::always),
      field<&Endpoint::conditions>("conditions"),
      field<&Endpoint::hostname>("hostname"),
      field<&Endpoint::target_ref>("targetRef"),
      field<&Endpoint::node_name>("nodeName"),
  };
  static constexpr StructInfo kInfo = struct_info<Endpoint>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EndpointPort>) {
  static constexpr Field kFields[] = {
      field<&EndpointPort::name>("name"),
      field<&EndpointPort::protocol>("protocol"),
      field<&EndpointPort::port>("port"),
      field<&EndpointPort::app_protocol>("appProtocol"),
  };
  static constexpr StructInfo kInfo = struct_info<EndpointPort>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EndpointSlice>) {
  static constexpr Field kFields[] = {
      field<&EndpointSlice::metadata>("metadata"),
      field<&EndpointSlice::address_type>("addressType"),
      field<&EndpointSlice::endpoints>("endpoints", Presence::always),
      field<&EndpointSlice::ports>("ports", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<EndpointSlice>(kFields);
  return kInfo;
}

template struct List<Endpoint>;
template struct List<EndpointPort>;

}  // namespace codeflare::model
