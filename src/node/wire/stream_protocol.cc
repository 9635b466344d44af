#include "node/wire/stream_protocol.h"

#include "model/codec/describe.h"

namespace codeflare::node {

using model::codec::Field;
using model::codec::field;
using model::codec::struct_info;
using model::codec::StructInfo;
using model::codec::Tag;

const StructInfo& describe(Tag<StreamRequest>) {
  static constexpr Field kFields[] = {
      field<&StreamRequest::protocol>("protocol"),
      field<&StreamRequest::verb>("verb"),
      field<&StreamRequest::name>("name"),
      field<&StreamRequest::command>("command"),
      field<&StreamRequest::input>("input"),
      field<&StreamRequest::terminal>("terminal"),
      field<&StreamRequest::columns>("columns"),
      field<&StreamRequest::rows>("rows"),
      field<&StreamRequest::address>("address"),
      field<&StreamRequest::port>("port"),
      field<&StreamRequest::hangup_signal>("hangupSignal"),
  };
  static constexpr StructInfo kInfo = struct_info<StreamRequest>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StreamAnswer>) {
  static constexpr Field kFields[] = {
      field<&StreamAnswer::protocol>("protocol"),
      field<&StreamAnswer::event>("event"),
      field<&StreamAnswer::error>("error"),
      field<&StreamAnswer::missing>("missing"),
      field<&StreamAnswer::descriptors>("descriptors"),
      field<&StreamAnswer::ended>("ended"),
      field<&StreamAnswer::exit_code>("exitCode"),
  };
  static constexpr StructInfo kInfo = struct_info<StreamAnswer>(kFields);
  return kInfo;
}

bool is_stream_verb(std::string_view verb) {
  return verb == "exec" || verb == "attach" || verb == "dial";
}

}  // namespace codeflare::node
