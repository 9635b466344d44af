#pragma once

#include "model/codec/codec.h"
#include "model/custom_resource_definition.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<CustomResourceDefinitionNames>);
const codec::StructInfo& describe(codec::Tag<CustomResourceDefinitionVersion>);
const codec::StructInfo& describe(codec::Tag<CustomResourceDefinitionSpec>);
const codec::StructInfo& describe(codec::Tag<CustomResourceDefinitionStatus>);
const codec::StructInfo& describe(codec::Tag<CustomResourceDefinition>);

}  // namespace codeflare::model
