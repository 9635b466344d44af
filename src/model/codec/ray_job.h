#pragma once

#include "model/codec/codec.h"
#include "model/codec/ray_cluster.h"
#include "model/ray_job.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<RaySubmitterConfig>);
const codec::StructInfo& describe(codec::Tag<RayJobSpec>);
const codec::StructInfo& describe(codec::Tag<RayJobTimes>);
const codec::StructInfo& describe(codec::Tag<RayJobStatus>);
const codec::StructInfo& describe(codec::Tag<RayJob>);

}  // namespace codeflare::model
