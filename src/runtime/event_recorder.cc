#include "runtime/event_recorder.h"

#include "base/async/sleep.h"
#include "json/write.h"

#include <optional>
#include <utility>

namespace codeflare::runtime {

namespace {

const model::ResourceType kEvents{"", "v1", "Event", "events", true};
constexpr int kTries = 12;
constexpr Duration kBetweenTries = std::chrono::seconds(10);
constexpr Duration kDrain = std::chrono::seconds(3);

// Kubernetes rejects longer messages.
constexpr std::size_t kMessageMax = 1024;

// Events about cluster-scoped objects live in "default".
std::string namespace_of(const EventRecord& record) {
  return record.subject.key.ns.empty() ? "default" : record.subject.key.ns;
}

// The server or the network had a bad moment; everything else will not get better.
bool worth_another_try(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::deadline_exceeded ||
         error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::internal;
}

// Cuts at a character's border.
std::string shortened(std::string_view message) {
  std::size_t size = std::min(message.size(), kMessageMax);
  while (size > 0 && size < message.size() &&
         (static_cast<unsigned char>(message[size]) & 0xC0) == 0x80) {
    --size;
  }
  return std::string(message.substr(0, size));
}

}  // namespace

EventRecorder::EventRecorder(Env env, kube::Client& client, std::string component)
    : env_(env), client_(client), component_(std::move(component)) {}

void EventRecorder::normal(EventSubject subject, std::string reason, std::string message) {
  record({std::move(subject), false, std::move(reason), std::move(message)});
}

void EventRecorder::warning(EventSubject subject, std::string reason, std::string message) {
  record({std::move(subject), true, std::move(reason), std::move(message)});
}

void EventRecorder::record(EventRecord record) {
  if (!queue_.try_push(std::move(record))) {
    ++dropped_;
  }
}

// The last words of a controller are often the interesting ones: what is queued or under way when a
// stop comes gets a few seconds of its own.
Task<void> EventRecorder::run() {
  const TaskContext& context = co_await current_context();
  StopSource late;
  TaskContext writing{context.loop, late.token()};
  std::optional<TimerId> timer;
  StopCallback on_stop(context.stop, [&] {
    timer = env_.loop.start_timer(after(env_.loop.now(), kDrain), [&] { late.request_stop(); });
  });
  while (!late.stop_requested()) {
    // Once stopped, pop() no longer waits for more.
    Result<EventRecord> next = co_await queue_.pop();
    if (!next) {
      break;
    }
    co_await write(*std::move(next)).under(writing);
  }
  if (timer) {
    env_.loop.cancel_timer(*timer);
  }
}

Task<void> EventRecorder::write(EventRecord record) {
  EventCorrelator::Decision decision = correlator_.decide(record, env_.clock.wall());
  if (decision.kind == EventCorrelator::Decision::Kind::drop) {
    ++dropped_;
    co_return;
  }
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Result<void> written = co_await write_once(record, decision);
    if (written) {
      co_return;
    }
    if (written.error().code == ErrorCode::not_found &&
        decision.kind == EventCorrelator::Decision::Kind::count) {
      // The event expired on the server; begin a new one.
      correlator_.lost(decision.key);
      decision.kind = EventCorrelator::Decision::Kind::create;
      continue;
    }
    if (!worth_another_try(written.error()) || !co_await sleep_for(kBetweenTries)) {
      break;
    }
  }
  ++dropped_;
}

Task<Result<void>> EventRecorder::write_once(EventRecord record,
                                             EventCorrelator::Decision decision) {
  if (decision.kind == EventCorrelator::Decision::Kind::count) {
    std::string patch;
    json::Writer w(patch);
    w.begin_object().key("count").integer(decision.count);
    w.member("lastTimestamp", to_rfc3339(env_.clock.wall()));
    w.member("message", shortened(decision.message)).end_object();
    model::ObjectKey key{namespace_of(record), decision.event_name};
    CO_TRY(
        co_await client_.patch(kEvents, std::move(key), kube::PatchKind::merge, std::move(patch)));
    co_return Result<void>();
  }
  std::string name = record.subject.key.name.substr(0, 200) + "." + env_.random.name_suffix(16);
  std::string event = new_event(record, decision, name);
  CO_TRY(co_await client_.create(kEvents, namespace_of(record), std::move(event)));
  correlator_.created(decision.key, std::move(name));
  co_return Result<void>();
}

std::string EventRecorder::new_event(const EventRecord& record,
                                     const EventCorrelator::Decision& decision,
                                     std::string_view name) const {
  const EventSubject& subject = record.subject;
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "Event");
  w.key("metadata").begin_object();
  w.member("name", name).member("namespace", namespace_of(record)).end_object();
  w.key("involvedObject").begin_object();
  w.member("apiVersion", subject.gvk.api_version()).member("kind", subject.gvk.kind);
  w.member_if_set("namespace", subject.key.ns).member("name", subject.key.name);
  w.member_if_set("uid", subject.uid);
  w.member_if_set("resourceVersion", subject.resource_version).end_object();
  w.member("type", record.warning ? "Warning" : "Normal").member("reason", record.reason);
  w.member("message", shortened(decision.message));
  w.member("firstTimestamp", to_rfc3339(decision.first));
  w.member("lastTimestamp", to_rfc3339(env_.clock.wall()));
  w.key("count").integer(decision.count);
  w.key("source").begin_object().member("component", component_).end_object();
  w.member("reportingComponent", component_).member("reportingInstance", component_);
  w.end_object();
  return text;
}

}  // namespace codeflare::runtime
