#include "sdk/cluster_events.h"

#include "model/codec/event.h"
#include "model/event.h"
#include "model/resources.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::sdk {

namespace {

// The events library counts repetitions; others write the last time.
WallTime time_of(const model::Event& event) {
  if (event.series && event.series->last_observed_time) {
    return event.series->last_observed_time->time;
  }
  if (event.last_timestamp) {
    return *event.last_timestamp;
  }
  return event.event_time ? event.event_time->time : WallTime();
}

bool concerns(const ClusterInfo& cluster, const model::ObjectReference& about) {
  if (about.kind == "RayCluster") {
    return about.name == cluster.key.name;
  }
  if (about.kind == "AppWrapper") {
    return !cluster.wrapper.empty() && about.name == cluster.wrapper;
  }
  return about.kind == "Pod" &&
         std::ranges::any_of(cluster.objects.pods, [&](const model::Pod& pod) {
           return pod.metadata.name == about.name;
         });
}

}  // namespace

Task<Result<std::vector<ClusterEvent>>> last_events(kube::Client& client, ClusterInfo cluster,
                                                    std::size_t count) {
  kube::ListOptions which{.ns = cluster.key.ns};
  CO_TRY_ASSIGN(const kube::ObjectList list,
                co_await client.list_all(model::resource_type<model::Event>(), std::move(which)));
  std::vector<ClusterEvent> events;
  for (const kube::ObjectRef& object : list.items) {
    const Result<model::Event> event = object->as<model::Event>();
    if (event && concerns(cluster, event->involved_object)) {
      const model::ObjectReference& about = event->involved_object;
      events.push_back({.last = time_of(*event),
                        .type = event->type,
                        .object = (about.kind == "Pod" ? "pod" : about.kind) + " " + about.name,
                        .reason = event->reason,
                        .message = event->message});
    }
  }
  std::ranges::sort(events, {}, [](const ClusterEvent& event) {
    return std::tie(event.last, event.object, event.reason);
  });
  if (events.size() > count) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(count));
  }
  co_return events;
}

}  // namespace codeflare::sdk
