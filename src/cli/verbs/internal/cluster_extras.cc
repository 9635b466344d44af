#include "cli/verbs/internal/cluster_extras.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/table.h"
#include "sdk/jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::cli::internal {

namespace {

using json::Value;

constexpr Duration kJobsWithin = std::chrono::seconds(3);
constexpr std::size_t kJobsShown = 10;
constexpr std::size_t kEvents = 5;

Task<Result<std::vector<sdk::JobInfo>>> jobs_of_head(Session& session, model::ObjectKey key) {
  sdk::JobsOptions options;
  options.client.retry_for = Duration::zero();
  options.client.request_timeout = kJobsWithin;
  sdk::Jobs jobs(session.env(), session.service(), session.client(), session.discovery(),
                 std::move(options));
  co_return co_await jobs.list({.cluster = std::move(key)});
}

Task<void> add_jobs(Session& session, model::ObjectKey key, ClusterExtras& extras) {
  Task<Result<std::vector<sdk::JobInfo>>> asking = jobs_of_head(session, std::move(key));
  Result<std::vector<sdk::JobInfo>> jobs =
      co_await with_timeout(kJobsWithin, "the dashboard", std::move(asking));
  if (!jobs) {
    extras.no_jobs = jobs.error().message;
    co_return;
  }
  // Jobs that have not started yet come first.
  std::ranges::sort(*jobs, std::ranges::greater(), [](const sdk::JobInfo& job) {
    return std::pair(job.started.value_or(WallTime::max()), job.name);
  });
  extras.jobs = *std::move(jobs);
}

std::string ago(WallTime time, WallTime now) {
  return time == WallTime() ? "-" : human_duration(now - time);
}

std::string jobs_text(const ClusterExtras& extras, WallTime now) {
  std::string out;
  if (!extras.no_jobs.empty()) {
    add_field(out, "Jobs", "not known: " + extras.no_jobs);
  }
  if (!extras.jobs) {
    return out;
  }
  Table table({"  JOB", "STATUS", "STARTED", "REASON"});
  const std::size_t shown = std::min(extras.jobs->size(), kJobsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const sdk::JobInfo& job = (*extras.jobs)[i];
    table.add_row({"  " + job.name, std::string(to_string(job.phase)),
                   ago(job.started.value_or(WallTime()), now), or_dash(job.reason)});
  }
  out += table.empty() ? "Jobs:        none\n" : "Jobs:\n" + table.to_text();
  if (shown < extras.jobs->size()) {
    out += "  and " + std::to_string(extras.jobs->size() - shown) + " more\n";
  }
  return out;
}

std::string events_text(const std::vector<sdk::ClusterEvent>& events, WallTime now) {
  Table table({"  AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"});
  for (const sdk::ClusterEvent& event : events) {
    table.add_row(
        {"  " + ago(event.last, now), event.type, event.reason, event.object, event.message});
  }
  return table.empty() ? "" : "Events:\n" + table.to_text();
}

Value event_json(json::Arena& arena, const sdk::ClusterEvent& event) {
  Value object = Value::object();
  const auto text = [&](std::string_view key, const std::string& value) {
    object.set_static(arena, key, Value::string(arena, value));
  };
  text("last", event.last == WallTime() ? "" : to_rfc3339(event.last));
  text("type", event.type);
  text("object", event.object);
  text("reason", event.reason);
  text("message", event.message);
  return object;
}

}  // namespace

Task<ClusterExtras> gather_extras(Session& session, sdk::ClusterInfo cluster, bool details) {
  ClusterExtras extras;
  if (cluster.state.phase == sdk::ClusterPhase::queued && !cluster.wrapper.empty()) {
    model::ObjectKey wrapper{cluster.key.ns, cluster.wrapper};
    extras.place = co_await queue_place(session, std::move(wrapper), true);
  }
  if (!details) {
    co_return extras;
  }
  if (cluster.state.head_ready || cluster.state.phase == sdk::ClusterPhase::ready) {
    model::ObjectKey key = cluster.key;
    co_await add_jobs(session, std::move(key), extras);
  }
  if (Result<std::vector<sdk::ClusterEvent>> events =
          co_await sdk::last_events(session.client(), std::move(cluster), kEvents)) {
    extras.events = *std::move(events);
  }
  co_return extras;
}

std::string render_extras(const ClusterExtras& extras, WallTime now) {
  std::string out;
  add_field(out, "Queue", extras.place.to_string(now));
  return out + jobs_text(extras, now) + events_text(extras.events, now);
}

void add_extras(json::Arena& arena, Value& cluster, const ClusterExtras& extras) {
  if (extras.place.position > 0) {
    Value queue = Value::object();
    queue.set_static(arena, "position", Value::integer(arena, extras.place.position));
    if (extras.place.expected) {
      queue.set_static(arena, "expectedStart",
                       Value::string(arena, to_rfc3339(*extras.place.expected)));
    }
    cluster.set_static(arena, "queue", queue);
  }
  if (extras.jobs) {
    Value jobs = Value::array();
    for (const sdk::JobInfo& job : *extras.jobs) {
      jobs.push_back(arena, sdk::to_json(arena, job));
    }
    cluster.set_static(arena, "jobs", jobs);
  }
  if (!extras.events.empty()) {
    Value events = Value::array();
    for (const sdk::ClusterEvent& event : extras.events) {
      events.push_back(arena, event_json(arena, event));
    }
    cluster.set_static(arena, "events", events);
  }
}

}  // namespace codeflare::cli::internal
