#pragma once

#include "model/codec/codec.h"
#include "model/managed_cluster.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<ManagedClusterSpec>);
const codec::StructInfo& describe(codec::Tag<ManagedClusterStatus>);
const codec::StructInfo& describe(codec::Tag<ManagedCluster>);

}  // namespace codeflare::model
