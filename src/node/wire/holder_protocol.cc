#include "node/wire/holder_protocol.h"

#include "model/codec/describe.h"

namespace codeflare::node {

using model::codec::Field;
using model::codec::field;
using model::codec::struct_info;
using model::codec::StructInfo;
using model::codec::Tag;

const StructInfo& describe(Tag<ServicePortRecord>) {
  static constexpr Field kFields[] = {
      field<&ServicePortRecord::name>("name"),
      field<&ServicePortRecord::protocol>("protocol"),
      field<&ServicePortRecord::port>("port"),
  };
  static constexpr StructInfo kInfo = struct_info<ServicePortRecord>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EndpointRecord>) {
  static constexpr Field kFields[] = {
      field<&EndpointRecord::address>("address"),
      field<&EndpointRecord::hostname>("hostname"),
      field<&EndpointRecord::ready>("ready"),
      field<&EndpointRecord::ports>("ports"),
  };
  static constexpr StructInfo kInfo = struct_info<EndpointRecord>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ServiceRecord>) {
  static constexpr Field kFields[] = {
      field<&ServiceRecord::ns>("namespace"),
      field<&ServiceRecord::name>("name"),
      field<&ServiceRecord::address>("address"),
      field<&ServiceRecord::headless>("headless"),
      field<&ServiceRecord::not_ready_too>("notReadyToo"),
      field<&ServiceRecord::sticky>("sticky"),
      field<&ServiceRecord::elsewhere>("elsewhere"),
      field<&ServiceRecord::external_name>("externalName"),
      field<&ServiceRecord::ports>("ports"),
      field<&ServiceRecord::endpoints>("endpoints"),
  };
  static constexpr StructInfo kInfo = struct_info<ServiceRecord>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodRecord>) {
  static constexpr Field kFields[] = {
      field<&PodRecord::uid>("uid"),
      field<&PodRecord::ns>("namespace"),
      field<&PodRecord::name>("name"),
      field<&PodRecord::address>("address"),
  };
  static constexpr StructInfo kInfo = struct_info<PodRecord>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NetworkState>) {
  static constexpr Field kFields[] = {
      field<&NetworkState::protocol>("protocol"),
      field<&NetworkState::pods>("pods"),
      field<&NetworkState::last_address>("lastAddress"),
  };
  static constexpr StructInfo kInfo = struct_info<NetworkState>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HolderRequest>) {
  static constexpr Field kFields[] = {
      field<&HolderRequest::protocol>("protocol"), field<&HolderRequest::verb>("verb"),
      field<&HolderRequest::pod>("pod"),           field<&HolderRequest::block>("block"),
      field<&HolderRequest::service>("service"),   field<&HolderRequest::names>("names"),
      field<&HolderRequest::address>("address"),   field<&HolderRequest::port>("port"),
  };
  static constexpr StructInfo kInfo = struct_info<HolderRequest>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HolderAnswer>) {
  static constexpr Field kFields[] = {
      field<&HolderAnswer::protocol>("protocol"), field<&HolderAnswer::error>("error"),
      field<&HolderAnswer::address>("address"),   field<&HolderAnswer::gateway>("gateway"),
      field<&HolderAnswer::process>("process"),   field<&HolderAnswer::pods>("pods"),
      field<&HolderAnswer::inside>("inside"),
  };
  static constexpr StructInfo kInfo = struct_info<HolderAnswer>(kFields);
  return kInfo;
}

}  // namespace codeflare::node
