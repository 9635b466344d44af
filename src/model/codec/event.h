#pragma once

#include "model/codec/codec.h"
#include "model/event.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<EventSource>);
const codec::StructInfo& describe(codec::Tag<EventSeries>);
const codec::StructInfo& describe(codec::Tag<Event>);
const codec::StructInfo& describe(codec::Tag<EventsV1Event>);

}  // namespace codeflare::model
