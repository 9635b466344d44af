#pragma once

#include "model/codec/codec.h"
#include "model/deployment.h"
#include "model/replica_set.h"
#include "model/stateful_set.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<RollingUpdateDeployment>);
const codec::StructInfo& describe(codec::Tag<DeploymentStrategy>);
const codec::StructInfo& describe(codec::Tag<DeploymentSpec>);
const codec::StructInfo& describe(codec::Tag<DeploymentStatus>);
const codec::StructInfo& describe(codec::Tag<Deployment>);
const codec::StructInfo& describe(codec::Tag<ReplicaSetSpec>);
const codec::StructInfo& describe(codec::Tag<ReplicaSetStatus>);
const codec::StructInfo& describe(codec::Tag<ReplicaSet>);
const codec::StructInfo& describe(codec::Tag<StatefulSetSpec>);
const codec::StructInfo& describe(codec::Tag<StatefulSetStatus>);
const codec::StructInfo& describe(codec::Tag<StatefulSet>);

}  // namespace codeflare::model
