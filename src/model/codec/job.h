#pragma once

#include "model/codec/codec.h"
#include "model/job.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<JobSpec>);
const codec::StructInfo& describe(codec::Tag<UncountedTerminatedPods>);
const codec::StructInfo& describe(codec::Tag<JobStatus>);
const codec::StructInfo& describe(codec::Tag<Job>);

}  // namespace codeflare::model
