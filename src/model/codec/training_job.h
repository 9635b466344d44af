#pragma once

#include "model/codec/codec.h"
#include "model/training_job.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<TrainingReplicaSpec>);
const codec::StructInfo& describe(codec::Tag<TrainingRunPolicy>);
const codec::StructInfo& describe(codec::Tag<TrainingElastic>);
const codec::StructInfo& describe(codec::Tag<TrainingCheckpoint>);
const codec::StructInfo& describe(codec::Tag<TrainingJobSpec>);
const codec::StructInfo& describe(codec::Tag<TrainingPlace>);
const codec::StructInfo& describe(codec::Tag<TrainingPlan>);
const codec::StructInfo& describe(codec::Tag<TrainingMember>);
const codec::StructInfo& describe(codec::Tag<TrainingMembership>);
const codec::StructInfo& describe(codec::Tag<TrainingRestartCounts>);
const codec::StructInfo& describe(codec::Tag<TrainingProgress>);
const codec::StructInfo& describe(codec::Tag<TrainingJobStatus>);
const codec::StructInfo& describe(codec::Tag<TrainingJob>);

}  // namespace codeflare::model
