#include "cli/views/queue_view.h"

#include "base/check.h"
#include "base/human_duration.h"
#include "cli/views/requests.h"
#include "cli/views/submitter.h"
#include "cli/views/table.h"
#include "cli/views/training_view.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "model/managed_cluster.h"
#include "queue/marks.h"
#include "queue/status_words.h"
#include "queue/training_work.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

bool is_held(const WrapperView& view) {
  return view.held;
}

bool shown(const QueueView::Entry& entry, const QueueOptions& options) {
  return (options.ns.empty() || entry.view.ns == options.ns) &&
         (options.user.empty() || entry.user == options.user) &&
         options.selector.matches(entry.labels);
}

std::string position_text(std::int64_t position) {
  return position == 0 ? "-" : std::to_string(position);
}

// "3 waiting, 1 running, 1 held".
std::string counts_text(const QueueView& queue,
                        const std::function<bool(const QueueView::Entry&)>& counted) {
  const auto held = std::ranges::count_if(queue.entries, [&](const QueueView::Entry& entry) {
    return counted(entry) && is_held(entry.view);
  });
  std::string text = std::to_string(std::ranges::count_if(queue.entries, counted) - held) +
                     " waiting, " + std::to_string(std::ranges::count_if(queue.started, counted)) +
                     " running";
  return held > 0 ? text + ", " + std::to_string(held) + " held" : text;
}

// With a filter first what it shows: "1 waiting, 0 running; 3 waiting, 1 running in all".
std::string summary_line(const QueueView& queue, const QueueOptions& options) {
  const std::string all = counts_text(queue, [](const auto&) { return true; });
  std::string text =
      counts_text(queue, [&](const QueueView::Entry& entry) { return shown(entry, options); });
  if (text != all) {
    text += "; " + all + " in all";
  }
  if (queue.paused) {
    text += "; the queue is paused, run 'codeflare queue resume' to start work";
  }
  return text + "\n";
}

std::string state_text(const WrapperView& view) {
  return !view.waits     ? view.state
         : is_held(view) ? std::string(queue::word(queue::Reason::held))
                         : std::string("Waiting");
}

// How long it waits, or has run of the time that it may.
std::string time_text(const QueueView::Entry& entry, WallTime now) {
  if (entry.view.waits || !entry.started) {
    return age_text(entry.view.submitted, now);
  }
  const std::string elapsed = human_duration(now - *entry.started);
  return entry.limit > Duration::zero() ? elapsed + " of " + human_duration(entry.limit) : elapsed;
}

std::string start_text(const QueueView::Entry& entry, WallTime now) {
  if (!entry.expected) {
    return "";
  }
  return *entry.expected <= now ? "now" : "in " + human_duration(*entry.expected - now);
}

// As the command line takes it: "tj/bert".
std::string typed_name(const QueueView::Entry& entry) {
  return (entry.training ? "tj/" : "") + entry.view.name;
}

std::string full_name(const QueueView::Entry& entry) {
  return entry.training ? entry.view.ns + "/" + typed_name(entry) : entry.view.full_name();
}

std::string group_of(const QueueView::Entry& entry) {
  return entry.training ? std::string(model::ResourceTraits<model::TrainingJob>::group)
                        : entry.view.group();
}

struct Column {
  const char* title;
  std::string (*cell)(const QueueView::Entry& entry, WallTime now);
  bool always = true;  // otherwise where a line has something to say
  bool wide = false;   // with -o wide alone
};
using Entry = QueueView::Entry;
constexpr std::array kColumns = {
    Column{"POSITION", [](const Entry& e, WallTime) { return position_text(e.position); }},
    Column{"NAMESPACE", [](const Entry& e, WallTime) { return e.view.ns; }},
    Column{"NAME", [](const Entry& e, WallTime) { return typed_name(e); }},
    Column{"GROUP", [](const Entry& e, WallTime) { return group_of(e); }},
    Column{"USER", [](const Entry& e, WallTime) { return e.user; }, false},
    Column{"REQUESTS", [](const Entry& e, WallTime) { return e.requests; }, false},
    Column{"QUOTA", [](const Entry& e, WallTime) { return e.quota; }, false},
    Column{"PRIORITY", [](const Entry& e, WallTime) { return std::to_string(e.view.priority); }},
    Column{"STATE", [](const Entry& e, WallTime) { return state_text(e.view); }},
    Column{"TIME", time_text},
    Column{"CLUSTER", [](const Entry& e, WallTime) { return e.view.cluster; }},
    Column{"START", start_text, false},
    Column{"REASON", [](const Entry& e, WallTime) { return e.view.reason; }},
    Column{"NODES", [](const Entry& e, WallTime) { return e.view.nodes; }, false, true},
    Column{"MESSAGE", [](const Entry& e, WallTime) { return e.view.message; }, true, true},
};

Entry entry_of(const GroupedWrapper& wrapper, const std::set<std::string>& trees) {
  Entry entry{.view = view_of(wrapper),
              .user = submitter_of(wrapper),
              .quota = quota_text(wrapper.metadata.labels, trees),
              .labels = wrapper.metadata.labels};
  if (!entry.view.waits && !entry.view.holds) {
    return entry;
  }
  entry.requests = requests_text(wrapper);
  if (wrapper.status.plan && wrapper.status.plan->started) {
    entry.started = wrapper.status.plan->started->time;
  }
  if (const auto& scheduling = wrapper.spec.scheduling_spec;
      scheduling && scheduling->dispatch_duration) {
    entry.limit = std::chrono::seconds(scheduling->dispatch_duration->limit);
  }
  return entry;
}

WrapperView view_of(const model::TrainingJob& job, const queue::Work& work) {
  const model::TrainingJobStatus& status = job.status;
  WrapperView view{.uid = job.metadata.uid,
                   .ns = job.metadata.ns,
                   .name = job.metadata.name,
                   .state = !queue::is_finished(status) ? status.stage
                            : has_failed(job)           ? "Failed"
                                                        : "Completed",
                   .priority = work.priority,
                   .reason = status.reason,
                   .message = status.message,
                   .nodes = work.plan ? nodes_text(*work.plan) : "",
                   .cluster = work.plan ? std::string(model::managed_cluster::kLocal) : "",
                   .submitted = work.submitted};
  view.holds = work.plan.has_value();
  view.waits = !view.holds && !work.finished && !work.deleting;
  view.held = work.suspended;
  return view;
}

Entry entry_of(const model::TrainingJob& job, const std::set<std::string>& trees, WallTime now) {
  const queue::TrainingOptions options;
  const queue::Work work = queue::work_of(job, options, now);
  Entry entry{.view = view_of(job, work),
              .training = true,
              .quota = quota_text(job.metadata.labels, trees),
              .labels = job.metadata.labels};
  if (entry.view.waits || entry.view.holds) {
    entry.requests = requests_text(work);
    entry.started = job.status.start_time;
  }
  return entry;
}

using Entries = std::vector<const QueueView::Entry*>;

// From one look to the next.
struct Changes {
  Entries waits;  // new, in another place or for another reason
  Entries started;
  Entries ended;    // as they are now
  Entries deleted;  // as they were
};

std::map<std::string, const QueueView::Entry*> by_name(
    const std::vector<QueueView::Entry>& entries) {
  std::map<std::string, const QueueView::Entry*> named;
  for (const QueueView::Entry& entry : entries) {
    named[full_name(entry)] = &entry;
  }
  return named;
}

Changes changes_of(const QueueView& before, const QueueView& after, const QueueOptions& options) {
  auto waited = by_name(before.entries);
  auto ran = by_name(before.started);
  Changes changes;
  const auto add = [&](Entries& to, const QueueView::Entry& entry) {
    if (shown(entry, options)) {
      to.push_back(&entry);
    }
  };
  for (const QueueView::Entry& entry : after.entries) {
    const std::string name = full_name(entry);
    const auto known = waited.find(name);
    if (known == waited.end() || known->second->position != entry.position ||
        known->second->view.reason != entry.view.reason) {
      add(changes.waits, entry);
    }
    waited.erase(name);
    ran.erase(name);
  }
  for (const QueueView::Entry& entry : after.started) {
    waited.erase(full_name(entry));
    if (ran.erase(full_name(entry)) == 0) {
      add(changes.started, entry);
    }
  }
  for (const QueueView::Entry& entry : after.ended) {
    if (waited.erase(full_name(entry)) + ran.erase(full_name(entry)) > 0) {
      add(changes.ended, entry);
    }
  }
  for (const auto& gone : {waited, ran}) {
    for (const auto& [name, entry] : gone) {
      add(changes.deleted, *entry);
    }
  }
  return changes;
}

// ": REASON: MESSAGE"
std::string cause_text(const WrapperView& view) {
  return (view.reason.empty() ? "" : ": " + view.reason) +
         (view.message.empty() ? "" : ": " + one_line(view.message));
}

void write_name(json::Writer& w, const QueueView::Entry& entry) {
  w.member("namespace", entry.view.ns).member("name", entry.view.name);
  w.member("group", group_of(entry));
}

void write_entry(json::Writer& w, const QueueView::Entry& entry, WallTime now) {
  const WrapperView& view = entry.view;
  if (entry.position > 0) {
    w.key("position").integer(entry.position);
  }
  write_name(w, entry);
  w.key("priority").integer(view.priority);
  if (view.submitted != WallTime()) {
    w.member("submitted", to_rfc3339(view.submitted));
    w.key("waitSeconds").integer((now - view.submitted) / std::chrono::seconds(1));
  }
  w.key("held").boolean(is_held(view));
  w.member_if_set("user", entry.user).member_if_set("requests", entry.requests);
  w.member_if_set("quota", entry.quota).member_if_set("cluster", view.cluster);
  if (entry.started) {
    w.member("started", to_rfc3339(*entry.started));
    w.key("runSeconds").integer((now - *entry.started) / std::chrono::seconds(1));
  }
  if (entry.limit > Duration::zero()) {
    w.key("limitSeconds").integer(entry.limit / std::chrono::seconds(1));
  }
  if (entry.expected) {
    w.member("expectedStart", to_rfc3339(*entry.expected));
  }
  w.member_if_set("reason", view.reason).member_if_set("message", view.message);
}

}  // namespace

void add_to_queue(queue::Queue& queue, GroupedWrapper wrapper, WallTime now) {
  const auto doubted = [](const model::AppWrapperCondition& entry) {
    return entry.type == "Queued" && entry.status == "True" &&
           queue::has_reason(entry, queue::Reason::user_unknown);
  };
  for (const model::AppWrapperCondition& entry : wrapper.status.conditions) {
    for (const queue::Reason block :
         {queue::Reason::definition_outdated, queue::Reason::unlicensed}) {
      if (entry.type == "Queued" && entry.status == "True" && queue::has_reason(entry, block)) {
        queue.block(block, entry.message);
      }
    }
  }
  model::StringMap& annotations = wrapper.metadata.annotations;
  if (std::ranges::any_of(wrapper.status.conditions, doubted)) {
    annotations.erase(std::string(queue::kUserAnnotation));
  } else {
    annotations.emplace(queue::kUserAnnotation, "{}");
  }
  static_cast<void>(queue.upsert(wrapper, now, wrapper.api));
}

QueueView queue_of(const std::vector<GroupedWrapper>& wrappers, const queue::Settings& settings,
                   bool paused, WallTime now, const std::set<std::string>& trees,
                   const std::vector<model::TrainingJob>& jobs) {
  QueueView view{.paused = paused};
  // Without nodes nothing starts, and the line needs none.
  queue::Queue queue({.core = queue::core_options(settings), .user_check = true});
  std::map<std::string, QueueView::Entry> waiting;
  for (const GroupedWrapper& wrapper : wrappers) {
    QueueView::Entry each = entry_of(wrapper, trees);
    if (each.view.waits) {
      add_to_queue(queue, wrapper, now);
      waiting.emplace(wrapper.metadata.uid, std::move(each));
    } else if (each.view.holds) {
      view.started.push_back(std::move(each));
    } else if (model::is_terminal(wrapper.status) && !wrapper.metadata.deleting()) {
      view.ended.push_back(std::move(each));
    }
  }
  for (const model::TrainingJob& job : jobs) {
    QueueView::Entry each = entry_of(job, trees, now);
    if (each.view.waits) {
      static_cast<void>(queue.upsert(job, now));
      waiting.emplace(job.metadata.uid, std::move(each));
    } else if (each.view.holds) {
      view.started.push_back(std::move(each));
    } else if (queue::is_finished(job.status) && !job.metadata.deleting()) {
      view.ended.push_back(std::move(each));
    }
  }
  view.running = view.started.size();
  std::ranges::sort(view.started, [](const QueueView::Entry& a, const QueueView::Entry& b) {
    return std::tie(a.started, a.view.ns, a.view.name, a.view.api) <
           std::tie(b.started, b.view.ns, b.view.name, b.view.api);
  });
  for (const queue::WorkId& id : queue.line(now, waiting.size())) {
    auto found = waiting.extract(id.uid);
    found.mapped().position = static_cast<std::int64_t>(view.entries.size()) + 1;
    view.entries.push_back(std::move(found.mapped()));
  }
  std::vector<QueueView::Entry> rest;
  for (auto& [uid, each] : waiting) {
    rest.push_back(std::move(each));
  }
  std::ranges::sort(rest, [](const QueueView::Entry& first, const QueueView::Entry& second) {
    const WrapperView& a = first.view;
    const WrapperView& b = second.view;
    return std::forward_as_tuple(is_held(a), -a.priority, a.submitted, a.ns, a.name, a.api) <
           std::forward_as_tuple(is_held(b), -b.priority, b.submitted, b.ns, b.name, b.api);
  });
  std::ranges::move(rest, std::back_inserter(view.entries));
  return view;
}

std::string render_queue(const QueueView& queue, const QueueOptions& options, WallTime now) {
  std::vector<const QueueView::Entry*> lines;
  for (const std::vector<QueueView::Entry>* part : {&queue.started, &queue.entries}) {
    for (const QueueView::Entry& entry : *part) {
      if (shown(entry, options)) {
        lines.push_back(&entry);
      }
    }
  }
  if (lines.empty()) {
    return summary_line(queue, options);
  }
  std::vector<std::string> header;
  std::vector<const Column*> columns;
  for (const Column& column : kColumns) {
    const bool filled = std::ranges::any_of(
        lines, [&](const QueueView::Entry* entry) { return !column.cell(*entry, now).empty(); });
    const bool cluster = std::string_view(column.title) != "CLUSTER" || options.clusters ||
                         std::ranges::any_of(lines, [](const QueueView::Entry* entry) {
                           return entry->view.is_elsewhere();
                         });
    const bool wanted = (!column.wide || options.wide) && cluster;
    const bool group = std::string_view(column.title) != "GROUP" ||
                       std::ranges::any_of(lines, [](const QueueView::Entry* entry) {
                         return entry->view.is_of_mcad();
                       });
    if (wanted && group && (filled || column.always)) {
      columns.push_back(&column);
      header.emplace_back(column.title);
    }
  }
  Table table(std::move(header));
  for (const QueueView::Entry* entry : lines) {
    std::vector<std::string> row;
    for (const Column* column : columns) {
      row.push_back(column->cell(*entry, now));
    }
    table.add_row(std::move(row));
  }
  return table.to_text() + summary_line(queue, options);
}

std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options) {
  const Changes changes = changes_of(before, after, options);
  std::string out;
  for (const QueueView::Entry* entry : changes.waits) {
    out += full_name(*entry) + " is waiting at position " + position_text(entry->position) +
           cause_text(entry->view) + "\n";
  }
  for (const QueueView::Entry* entry : changes.started) {
    out += full_name(*entry) + " has started on " + nodes_in_words(entry->view.nodes) + "\n";
  }
  for (const QueueView::Entry* entry : changes.ended) {
    out += full_name(*entry) + " is " + entry->view.state + cause_text(entry->view) + "\n";
  }
  for (const QueueView::Entry* entry : changes.deleted) {
    out += full_name(*entry) + " was deleted\n";
  }
  if (before.paused != after.paused) {
    out += after.paused ? "the queue is paused\n" : "the queue is resumed\n";
  }
  return out;
}

std::string changes_json(const QueueView& before, const QueueView& after,
                         const QueueOptions& options, WallTime now) {
  const Changes changes = changes_of(before, after, options);
  std::string out;
  const auto line = [&out](std::string_view event, const auto& fill) {
    std::string text;
    json::Writer w(text);
    w.begin_object().member("event", event);
    fill(w);
    w.end_object();
    out += text + "\n";
  };
  for (const QueueView::Entry* entry : changes.waits) {
    line("waits", [&](json::Writer& w) { write_entry(w, *entry, now); });
  }
  for (const QueueView::Entry* entry : changes.started) {
    line("started", [&](json::Writer& w) { write_entry(w, *entry, now); });
  }
  for (const QueueView::Entry* entry : changes.ended) {
    line("ended", [&](json::Writer& w) {
      write_entry(w, *entry, now);
      w.member("state", entry->view.state);
    });
  }
  for (const QueueView::Entry* entry : changes.deleted) {
    line("deleted", [&](json::Writer& w) { write_name(w, *entry); });
  }
  if (before.paused != after.paused) {
    line(after.paused ? "paused" : "resumed", [](json::Writer&) {});
  }
  return out;
}

std::string queue_json(const QueueView& queue, const QueueOptions& options, WallTime now) {
  std::string compact;
  json::Writer w(compact);
  w.begin_object().key("paused").boolean(queue.paused);
  w.key("running").integer(static_cast<std::int64_t>(queue.running));
  const auto list = [&](std::string_view key, const std::vector<QueueView::Entry>& entries) {
    w.key(key).begin_array();
    for (const QueueView::Entry& entry : entries) {
      if (shown(entry, options)) {
        w.begin_object();
        write_entry(w, entry, now);
        w.end_object();
      }
    }
    w.end_array();
  };
  list("started", queue.started);
  list("waiting", queue.entries);
  w.end_object();
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root, 4) + "\n";
}

}  // namespace codeflare::cli
