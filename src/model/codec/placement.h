#pragma once

#include "model/codec/codec.h"
#include "model/placement.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<NodeSelectorTerm>);
const codec::StructInfo& describe(codec::Tag<NodeSelector>);
const codec::StructInfo& describe(codec::Tag<PreferredSchedulingTerm>);
const codec::StructInfo& describe(codec::Tag<NodeAffinity>);
const codec::StructInfo& describe(codec::Tag<PodAffinityTerm>);
const codec::StructInfo& describe(codec::Tag<WeightedPodAffinityTerm>);
const codec::StructInfo& describe(codec::Tag<PodAffinity>);
const codec::StructInfo& describe(codec::Tag<Affinity>);
const codec::StructInfo& describe(codec::Tag<Toleration>);
const codec::StructInfo& describe(codec::Tag<TopologySpreadConstraint>);

}  // namespace codeflare::model
