#pragma once

#include "model/codec/codec.h"
#include "model/endpoint_slice.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<EndpointConditions>);
const codec::StructInfo& describe(codec::Tag<Endpoint>);
const codec::StructInfo& describe(codec::Tag<EndpointPort>);
const codec::StructInfo& describe(codec::Tag<EndpointSlice>);

}  // namespace codeflare::model
