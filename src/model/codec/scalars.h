#pragma once

#include "model/binary.h"
#include "model/codec/type_codec.h"
#include "model/extra.h"
#include "model/int_or_string.h"
#include "model/meta.h"
#include "model/quantity.h"
#include "model/resource_list.h"

#include <cstdint>
#include <string>

namespace codeflare::model::codec {

// The codec of one type whose functions are defined in a .cc file.
#define CODEFLARE_CODEC(Type)                                                           \
  template <>                                                                           \
  struct CodecOf<Type> {                                                                \
    static bool decode(DecodeContext& context, const json::Value& value, void* member); \
    static json::Value encode(json::Arena& arena, const void* member);                  \
    static bool empty(const void* member);                                              \
  }

CODEFLARE_CODEC(bool);
CODEFLARE_CODEC(std::int32_t);
CODEFLARE_CODEC(std::int64_t);
CODEFLARE_CODEC(double);  // finite; whole numbers are written without a fraction
CODEFLARE_CODEC(std::string);
CODEFLARE_CODEC(RawJson);
CODEFLARE_CODEC(Binary);       // base64 text
CODEFLARE_CODEC(Quantity);     // text or a number
CODEFLARE_CODEC(IntOrString);  // text or a number
CODEFLARE_CODEC(Time);         // RFC 3339
CODEFLARE_CODEC(MicroTime);
CODEFLARE_CODEC(ResourceList);

// The value as a tree in the arena; empty text is null.
json::Value to_value(json::Arena& arena, const RawJson& raw);

}  // namespace codeflare::model::codec
