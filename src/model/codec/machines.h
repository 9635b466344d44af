#pragma once

#include "model/codec/codec.h"
#include "model/machine_request.h"
#include "model/machine_type.h"

// The kinds of scale.codeflare.dev.
namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<MachineTypeSpec>);
const codec::StructInfo& describe(codec::Tag<MachineType>);
const codec::StructInfo& describe(codec::Tag<MachineAmount>);
const codec::StructInfo& describe(codec::Tag<MachinePods>);
const codec::StructInfo& describe(codec::Tag<MachineWork>);
const codec::StructInfo& describe(codec::Tag<MachineRequestSpec>);
const codec::StructInfo& describe(codec::Tag<MachineState>);
const codec::StructInfo& describe(codec::Tag<MachineRequestStatus>);
const codec::StructInfo& describe(codec::Tag<MachineRequest>);

}  // namespace codeflare::model
