#include "cli/gather/events.h"

#include "kube/object.h"
#include "model/codec/event.h"
#include "model/resources.h"
#include "queue/demand.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

// The last time. The events library counts repetitions; others write the time itself.
WallTime time_of(const model::Event& event) {
  if (event.series && event.series->last_observed_time) {
    return event.series->last_observed_time->time;
  }
  if (event.last_timestamp) {
    return *event.last_timestamp;
  }
  return event.event_time ? event.event_time->time
                          : event.metadata.creation_timestamp.value_or(WallTime());
}

Task<std::vector<model::Event>> list_events(kube::Client& client, std::string ns,
                                            std::string fields) {
  kube::ListOptions options{.ns = std::move(ns), .field_selector = std::move(fields)};
  const Result<kube::ObjectList> list =
      co_await client.list_all(model::resource_type<model::Event>(), std::move(options));
  std::vector<model::Event> events;
  for (const kube::ObjectRef& object : list ? list->items : std::vector<kube::ObjectRef>()) {
    if (Result<model::Event> event = object->as<model::Event>()) {
      events.push_back(*std::move(event));
    }
  }
  co_return events;
}

// That no node was found is over once there is one.
bool concerns_pod(const model::Event& event, const model::Pod& pod) {
  return pod.metadata.uid == event.involved_object.uid &&
         (event.reason != "FailedScheduling" || pod.spec.node_name.empty());
}

// A ReplicaSet has its Deployment's name in front.
bool concerns_item(const model::Event& event, const queue::ItemInfo& item) {
  const std::string& name = event.involved_object.name;
  return event.reason == "FailedCreate" &&
         (name == item.key.name || name.starts_with(item.key.name + "-"));
}

bool concerns(const model::Event& event, const std::vector<model::Pod>& pods,
              const std::vector<queue::ItemInfo>& items) {
  return event.involved_object.kind == "Pod"
             ? std::ranges::any_of(pods, [&](const auto& pod) { return concerns_pod(event, pod); })
             : std::ranges::any_of(items,
                                   [&](const auto& item) { return concerns_item(event, item); });
}

}  // namespace

Task<std::vector<PastEvent>> wrapper_events(Session& session, std::string name) {
  std::string ns = session.ns();
  std::string fields = "involvedObject.name=" + name;
  const std::vector<model::Event> events =
      co_await list_events(session.client(), std::move(ns), std::move(fields));
  std::vector<PastEvent> found;
  for (const model::Event& event : events) {
    if (event.involved_object.kind == model::ResourceTraits<model::AppWrapper>::kind) {
      found.push_back({time_of(event), event.reason, event.message});
    }
  }
  std::ranges::sort(found, {}, [](const PastEvent& event) {
    return std::tie(event.time, event.reason, event.message);
  });
  co_return found;
}

Task<std::vector<model::Event>> list_warnings(kube::Client& client, std::string ns) {
  co_return co_await list_events(client, std::move(ns), "type=Warning");
}

std::optional<Cause> newest_warning(const std::vector<model::Event>& events,
                                    const GroupedWrapper& wrapper,
                                    const std::vector<model::Pod>& pods) {
  const Result<queue::Demand> demand = queue::demand_of(wrapper);
  const std::vector<queue::ItemInfo> items =
      demand ? demand->items : std::vector<queue::ItemInfo>();
  std::optional<Cause> cause;
  WallTime newest = wrapper.metadata.creation_timestamp.value_or(WallTime());
  for (const model::Event& event : events) {
    const model::ObjectReference& about = event.involved_object;
    if (about.ns != wrapper.metadata.ns || time_of(event) < newest ||
        !concerns(event, pods, items)) {
      continue;
    }
    newest = time_of(event);
    cause = Cause{.reason = event.reason,
                  .text = (about.kind == "Pod" ? "pod " : about.kind + " ") + about.name + ": " +
                          event.reason + ": " + event.message};
  }
  return cause;
}

}  // namespace codeflare::cli
