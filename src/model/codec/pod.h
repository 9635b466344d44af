#pragma once

#include "model/codec/codec.h"
#include "model/pod.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<HostAlias>);
const codec::StructInfo& describe(codec::Tag<PodReadinessGate>);
const codec::StructInfo& describe(codec::Tag<PodSchedulingGate>);
const codec::StructInfo& describe(codec::Tag<PodSpec>);
const codec::StructInfo& describe(codec::Tag<HostIp>);
const codec::StructInfo& describe(codec::Tag<PodIp>);
const codec::StructInfo& describe(codec::Tag<PodStatus>);
const codec::StructInfo& describe(codec::Tag<Pod>);
const codec::StructInfo& describe(codec::Tag<PodTemplateSpec>);

}  // namespace codeflare::model
