#pragma once

#include "model/codec/codec.h"
#include "model/container.h"
#include "model/container_status.h"
#include "model/reference.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<ObjectReference>);
const codec::StructInfo& describe(codec::Tag<LocalObjectReference>);
const codec::StructInfo& describe(codec::Tag<ContainerPort>);
const codec::StructInfo& describe(codec::Tag<KeySelector>);
const codec::StructInfo& describe(codec::Tag<ObjectFieldSelector>);
const codec::StructInfo& describe(codec::Tag<ResourceFieldSelector>);
const codec::StructInfo& describe(codec::Tag<EnvVarSource>);
const codec::StructInfo& describe(codec::Tag<EnvVar>);
const codec::StructInfo& describe(codec::Tag<EnvSource>);
const codec::StructInfo& describe(codec::Tag<EnvFromSource>);
const codec::StructInfo& describe(codec::Tag<ResourceRequirements>);
const codec::StructInfo& describe(codec::Tag<VolumeMount>);
const codec::StructInfo& describe(codec::Tag<ExecAction>);
const codec::StructInfo& describe(codec::Tag<HttpHeader>);
const codec::StructInfo& describe(codec::Tag<HttpGetAction>);
const codec::StructInfo& describe(codec::Tag<TcpSocketAction>);
const codec::StructInfo& describe(codec::Tag<GrpcAction>);
const codec::StructInfo& describe(codec::Tag<Probe>);
const codec::StructInfo& describe(codec::Tag<SleepAction>);
const codec::StructInfo& describe(codec::Tag<LifecycleHandler>);
const codec::StructInfo& describe(codec::Tag<Lifecycle>);
const codec::StructInfo& describe(codec::Tag<Container>);
const codec::StructInfo& describe(codec::Tag<ContainerStateWaiting>);
const codec::StructInfo& describe(codec::Tag<ContainerStateRunning>);
const codec::StructInfo& describe(codec::Tag<ContainerStateTerminated>);
const codec::StructInfo& describe(codec::Tag<ContainerState>);
const codec::StructInfo& describe(codec::Tag<ContainerStatus>);

}  // namespace codeflare::model
