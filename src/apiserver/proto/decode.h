#pragma once

#include "base/result.h"
#include "json/value.h"

#include <string_view>

namespace codeflare::apiserver {

// A body of type application/vnd.kubernetes.protobuf as JSON: the envelope names the kind, the
// tables say what the numbers mean. Zero values appear exactly where the JSON form has them.
struct DecodedProtobuf {
  json::Document document;  // with apiVersion and kind, which come first
};

// The type of the object when the envelope does not name it: the kind of the endpoint.
struct ProtobufDefaults {
  std::string_view api_version{};
  std::string_view kind{};
};

// invalid_argument: malformed, or not a built-in kind; too_large: deeper or bigger than any object
// may be. Options such as DeleteOptions are known in every group.
Result<DecodedProtobuf> decode_protobuf(std::string_view body, ProtobufDefaults defaults = {});

}  // namespace codeflare::apiserver
