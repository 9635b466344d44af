#pragma once

#include "model/codec/codec.h"
#include "model/service.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<ServicePort>);
const codec::StructInfo& describe(codec::Tag<ServiceSpec>);
const codec::StructInfo& describe(codec::Tag<LoadBalancerIngress>);
const codec::StructInfo& describe(codec::Tag<LoadBalancerStatus>);
const codec::StructInfo& describe(codec::Tag<ServiceStatus>);
const codec::StructInfo& describe(codec::Tag<Service>);

}  // namespace codeflare::model
