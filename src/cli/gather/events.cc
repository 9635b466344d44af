#include "cli/gather/events.h"

#include "kube/object.h"
#include "model/app_wrapper.h"
#include "model/codec/event.h"
#include "model/resources.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::cli {

WallTime time_of(const model::Event& event) {
  if (event.series && event.series->last_observed_time) {
    return event.series->last_observed_time->time;
  }
  if (event.last_timestamp) {
    return *event.last_timestamp;
  }
  return event.event_time ? event.event_time->time : WallTime();
}

Task<std::vector<PastEvent>> wrapper_events(Session& session, std::string name) {
  kube::ListOptions options{.ns = session.ns(),
                            .field_selector = "involvedObject.name=" + std::move(name)};
  const Result<kube::ObjectList> list =
      co_await session.client().list_all(model::resource_type<model::Event>(), std::move(options));
  std::vector<PastEvent> events;
  for (const kube::ObjectRef& object : list ? list->items : std::vector<kube::ObjectRef>()) {
    const Result<model::Event> event = object->as<model::Event>();
    if (event && event->involved_object.kind == model::ResourceTraits<model::AppWrapper>::kind) {
      events.push_back({time_of(*event), event->reason, event->message});
    }
  }
  std::ranges::sort(events, {}, [](const PastEvent& event) {
    return std::tie(event.time, event.reason, event.message);
  });
  co_return events;
}

}  // namespace codeflare::cli
