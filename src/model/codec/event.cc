#include "model/codec/event.h"

#include "model/codec/container.h"
#include "model/codec/describe.h"
#include "model/codec/meta.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<EventSource>) {
  static constexpr Field kFields[] = {
      field<&EventSource::component>("component"),
      field<&EventSource::host>("host"),
  };
  static constexpr StructInfo kInfo = struct_info<EventSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EventSeries>) {
  static constexpr Field kFields[] = {
      field<&EventSeries::count>("count", Presence::always),
      field<&EventSeries::last_observed_time>("lastObservedTime"),
  };
  static constexpr StructInfo kInfo = struct_info<EventSeries>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Event>) {
  static constexpr Field kFields[] = {
      field<&Event::metadata>("metadata", Presence::always),
      field<&Event::involved_object>("involvedObject", Presence::always),
      field<&Event::reason>("reason"),
      field<&Event::message>("message"),
      field<&Event::source>("source"),
      field<&Event::first_timestamp>("firstTimestamp"),
      field<&Event::last_timestamp>("lastTimestamp"),
      field<&Event::count>("count"),
      field<&Event::type>("type"),
      field<&Event::event_time>("eventTime"),
      field<&Event::series>("series"),
      field<&Event::action>("action"),
      field<&Event::related>("related"),
      field<&Event::reporting_component>("reportingComponent", Presence::always),
      field<&Event::reporting_instance>("reportingInstance", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<Event>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EventsV1Event>) {
  static constexpr Field kFields[] = {
      field<&EventsV1Event::metadata>("metadata", Presence::always),
      field<&EventsV1Event::event_time>("eventTime"),
      field<&EventsV1Event::series>("series"),
      field<&EventsV1Event::reporting_controller>("reportingController"),
      field<&EventsV1Event::reporting_instance>("reportingInstance"),
      field<&EventsV1Event::action>("action"),
      field<&EventsV1Event::reason>("reason"),
      field<&EventsV1Event::regarding>("regarding"),
      field<&EventsV1Event::related>("related"),
      field<&EventsV1Event::note>("note"),
      field<&EventsV1Event::type>("type"),
      field<&EventsV1Event::deprecated_source>("deprecatedSource"),
      field<&EventsV1Event::deprecated_first_timestamp>("deprecatedFirstTimestamp"),
      field<&EventsV1Event::deprecated_last_timestamp>("deprecatedLastTimestamp"),
      field<&EventsV1Event::deprecated_count>("deprecatedCount"),
  };
  static constexpr StructInfo kInfo = struct_info<EventsV1Event>(kFields);
  return kInfo;
}

}  // namespace codeflare::model
