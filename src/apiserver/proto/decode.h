#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <string_view>

namespace codeflare::apiserver {

// A body of type application/vnd.kubernetes.protobuf as JSON: the envelope names the kind, the
// tables say what the numbers mean. Zero values appear exactly where the JSON form has them.
struct DecodedProtobuf {
  json::Document document;  // with apiVersion and kind
};
Result<DecodedProtobuf> decode_protobuf(std::string_view body);

}  // namespace codeflare::apiserver
