#pragma once

#include "model/codec/codec.h"
#include "model/condition.h"
#include "model/labels.h"
#include "model/meta.h"
#include "model/status.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<OwnerReference>);
const codec::StructInfo& describe(codec::Tag<ManagedFieldsEntry>);
const codec::StructInfo& describe(codec::Tag<ObjectMeta>);
const codec::StructInfo& describe(codec::Tag<ListMeta>);
const codec::StructInfo& describe(codec::Tag<Condition>);
const codec::StructInfo& describe(codec::Tag<SelectorExpression>);
const codec::StructInfo& describe(codec::Tag<LabelSelector>);
const codec::StructInfo& describe(codec::Tag<StatusCause>);
const codec::StructInfo& describe(codec::Tag<StatusDetails>);
const codec::StructInfo& describe(codec::Tag<Status>);

}  // namespace codeflare::model
