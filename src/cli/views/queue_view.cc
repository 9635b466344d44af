#include "cli/views/queue_view.h"

#include "base/check.h"
#include "base/human_duration.h"
#include "cli/views/requests.h"
#include "cli/views/submitter.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <array>
#include <chrono>
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

std::string summary_line(const QueueView& queue) {
  const auto held = std::ranges::count_if(
      queue.entries, [](const QueueView::Entry& entry) { return is_held(entry.view); });
  std::string text = std::to_string(queue.entries.size() - static_cast<std::size_t>(held)) +
                     " waiting, " + std::to_string(queue.running) + " running";
  if (held > 0) {
    text += ", " + std::to_string(held) + " held";
  }
  if (queue.paused) {
    text += "; the queue is paused, run 'codeflare queue resume' to start work";
  }
  return text + "\n";
}

std::string state_text(const WrapperView& view) {
  return !view.waits ? view.state : is_held(view) ? std::string("Held") : std::string("Waiting");
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
    Column{"NAME", [](const Entry& e, WallTime) { return e.view.name; }},
    Column{"GROUP", [](const Entry& e, WallTime) { return e.view.group(); }},
    Column{"USER", [](const Entry& e, WallTime) { return e.user; }, false},
    Column{"REQUESTS", [](const Entry& e, WallTime) { return e.requests; }, false},
    Column{"QUOTA", [](const Entry& e, WallTime) { return e.quota; }, false},
    Column{"PRIORITY", [](const Entry& e, WallTime) { return std::to_string(e.view.priority); }},
    Column{"STATE", [](const Entry& e, WallTime) { return state_text(e.view); }},
    Column{"TIME", time_text},
    Column{"START", start_text, false},
    Column{"REASON", [](const Entry& e, WallTime) { return e.view.reason; }},
    Column{"NODES", [](const Entry& e, WallTime) { return e.view.nodes; }, false, true},
    Column{"MESSAGE", [](const Entry& e, WallTime) { return e.view.message; }, true, true},
};

Entry entry_of(const GroupedWrapper& wrapper, const std::set<std::string>& trees) {
  Entry entry{.view = view_of(wrapper),
              .user = submitter_of(wrapper),
              .quota = quota_text(wrapper, trees),
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

// From one look to the next.
struct Changes {
  std::vector<const QueueView::Entry*> waits;  // new, in another place or for another reason
  std::vector<const QueueView::Entry*> left;
};

Changes changes_of(const QueueView& before, const QueueView& after, const QueueOptions& options) {
  std::map<std::string, const QueueView::Entry*> old;
  for (const QueueView::Entry& entry : before.entries) {
    old[entry.view.full_name()] = &entry;
  }
  Changes changes;
  for (const QueueView::Entry& entry : after.entries) {
    const auto known = old.find(entry.view.full_name());
    const bool same = known != old.end() && known->second->position == entry.position &&
                      known->second->view.reason == entry.view.reason;
    if (known != old.end()) {
      old.erase(known);
    }
    if (!same && shown(entry, options)) {
      changes.waits.push_back(&entry);
    }
  }
  for (const auto& [key, entry] : old) {
    if (shown(*entry, options)) {
      changes.left.push_back(entry);
    }
  }
  return changes;
}

void write_name(json::Writer& w, const WrapperView& view) {
  w.member("namespace", view.ns).member("name", view.name).member("group", view.group());
}

void write_entry(json::Writer& w, const QueueView::Entry& entry, WallTime now) {
  const WrapperView& view = entry.view;
  if (entry.position > 0) {
    w.key("position").integer(entry.position);
  }
  write_name(w, view);
  w.key("priority").integer(view.priority);
  if (view.submitted != WallTime()) {
    w.member("submitted", to_rfc3339(view.submitted));
    w.key("waitSeconds").integer((now - view.submitted) / std::chrono::seconds(1));
  }
  w.key("held").boolean(is_held(view));
  w.member_if_set("user", entry.user).member_if_set("requests", entry.requests);
  w.member_if_set("quota", entry.quota);
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
  model::StringMap& annotations = wrapper.metadata.annotations;
  if (std::ranges::any_of(wrapper.status.conditions, doubted)) {
    annotations.erase(std::string(queue::kUserAnnotation));
  } else {
    annotations.emplace(queue::kUserAnnotation, "{}");
  }
  static_cast<void>(queue.upsert(wrapper, now, wrapper.api));
}

QueueView queue_of(const std::vector<GroupedWrapper>& wrappers, const queue::Settings& settings,
                   bool paused, WallTime now, const std::set<std::string>& trees) {
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
    return summary_line(queue);
  }
  std::vector<std::string> header;
  std::vector<const Column*> columns;
  for (const Column& column : kColumns) {
    const bool filled = std::ranges::any_of(
        lines, [&](const QueueView::Entry* entry) { return !column.cell(*entry, now).empty(); });
    const bool wanted = !column.wide || options.wide;
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
  return table.to_text() + summary_line(queue);
}

std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options) {
  const Changes changes = changes_of(before, after, options);
  std::string out;
  for (const QueueView::Entry* entry : changes.waits) {
    out += entry->view.full_name() + " is waiting at position " + position_text(entry->position);
    if (!entry->view.reason.empty()) {
      out += ": " + entry->view.reason;
    }
    if (!entry->view.message.empty()) {
      out += ": " + one_line(entry->view.message);
    }
    out += "\n";
  }
  for (const QueueView::Entry* entry : changes.left) {
    out += entry->view.full_name() + " has left the queue\n";
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
  for (const QueueView::Entry* entry : changes.left) {
    line("left", [&](json::Writer& w) { write_name(w, entry->view); });
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
