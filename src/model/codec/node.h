#pragma once

#include "model/codec/codec.h"
#include "model/node.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<Taint>);
const codec::StructInfo& describe(codec::Tag<NodeSpec>);
const codec::StructInfo& describe(codec::Tag<NodeAddress>);
const codec::StructInfo& describe(codec::Tag<NodeSystemInfo>);
const codec::StructInfo& describe(codec::Tag<DaemonEndpoint>);
const codec::StructInfo& describe(codec::Tag<NodeDaemonEndpoints>);
const codec::StructInfo& describe(codec::Tag<ContainerImage>);
const codec::StructInfo& describe(codec::Tag<NodeStatus>);
const codec::StructInfo& describe(codec::Tag<Node>);

}  // namespace codeflare::model
