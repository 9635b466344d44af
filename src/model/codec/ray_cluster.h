#pragma once

#include "model/codec/codec.h"
#include "model/ray_cluster.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<RayScaleStrategy>);
const codec::StructInfo& describe(codec::Tag<RayHeadGroup>);
const codec::StructInfo& describe(codec::Tag<RayWorkerGroup>);
const codec::StructInfo& describe(codec::Tag<RayAutoscalerOptions>);
const codec::StructInfo& describe(codec::Tag<RayClusterSpec>);
const codec::StructInfo& describe(codec::Tag<RayHeadInfo>);
const codec::StructInfo& describe(codec::Tag<RayClusterStatus>);
const codec::StructInfo& describe(codec::Tag<RayCluster>);

}  // namespace codeflare::model
