#pragma once

#include "model/extra.h"
#include "model/meta.h"
#include "model/reference.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::model {

struct EventSource {
  std::string component;
  std::string host;
  Extra extra;

  friend bool operator==(const EventSource&, const EventSource&) = default;
};

struct EventSeries {
  std::int32_t count = 0;
  std::optional<MicroTime> last_observed_time;
  Extra extra;

  friend bool operator==(const EventSeries&, const EventSeries&) = default;
};

// v1 Event: what `kubectl describe` shows.
struct Event {
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  EventSource source;
  std::optional<Time> first_timestamp;
  std::optional<Time> last_timestamp;
  std::int32_t count = 0;
  std::string type;  // "Normal" or "Warning"
  std::optional<MicroTime> event_time;
  std::optional<EventSeries> series;
  std::string action;
  std::optional<ObjectReference> related;
  std::string reporting_component;
  std::string reporting_instance;
  Extra extra;

  friend bool operator==(const Event&, const Event&) = default;
};

// events.k8s.io/v1 Event: the same objects seen through the newer group.
struct EventsV1Event {
  ObjectMeta metadata;
  std::optional<MicroTime> event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;
  EventSource deprecated_source;
  std::optional<Time> deprecated_first_timestamp;
  std::optional<Time> deprecated_last_timestamp;
  std::int32_t deprecated_count = 0;
  Extra extra;

  friend bool operator==(const EventsV1Event&, const EventsV1Event&) = default;
};

}  // namespace codeflare::model
