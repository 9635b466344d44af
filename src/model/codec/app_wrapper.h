#pragma once

#include "model/app_wrapper.h"
#include "model/codec/codec.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<CustomPodResources>);
const codec::StructInfo& describe(codec::Tag<GenericItem>);
const codec::StructInfo& describe(codec::Tag<AppWrapperResources>);
const codec::StructInfo& describe(codec::Tag<Requeuing>);
const codec::StructInfo& describe(codec::Tag<DispatchDuration>);
const codec::StructInfo& describe(codec::Tag<SchedulingSpec>);
const codec::StructInfo& describe(codec::Tag<AppWrapperSpec>);
const codec::StructInfo& describe(codec::Tag<AppWrapperCondition>);
const codec::StructInfo& describe(codec::Tag<PlannedPlace>);
const codec::StructInfo& describe(codec::Tag<AppWrapperPlan>);
const codec::StructInfo& describe(codec::Tag<PendingPodConditions>);
const codec::StructInfo& describe(codec::Tag<AppWrapperStatus>);
const codec::StructInfo& describe(codec::Tag<AppWrapper>);
const codec::StructInfo& describe(codec::Tag<LegacyAppWrapper>);

}  // namespace codeflare::model
