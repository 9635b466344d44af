#include "cli/queue_view.h"

#include "base/check.h"
#include "cli/table.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

struct Waiting {
  WrapperView view;
  double priority = 0;
};

bool is_held(const WrapperView& view) {
  return view.state == "Held";
}

bool shown(const QueueView::Entry& entry, const QueueOptions& options) {
  return options.ns.empty() || entry.view.ns == options.ns;
}

std::string position_text(std::int64_t position) {
  return position == 0 ? "-" : std::to_string(position);
}

std::string summary_line(const QueueView& queue) {
  const auto held = std::ranges::count(queue.entries, 0, &QueueView::Entry::position);
  std::string text = std::to_string(queue.entries.size() - static_cast<std::size_t>(held)) +
                     " waiting, " + std::to_string(queue.running) + " running";
  if (held > 0) {
    text += ", " + std::to_string(held) + " held";
  }
  if (queue.paused) {
    text += "; the queue is paused: nothing starts until `codeflare queue resume`";
  }
  return text + "\n";
}

std::string key_of(const WrapperView& view) {
  return view.ns + "/" + view.name;
}

}  // namespace

QueueView queue_of(const std::vector<model::AppWrapper>& wrappers, bool paused) {
  QueueView queue{.paused = paused};
  std::vector<Waiting> line;
  for (const model::AppWrapper& wrapper : wrappers) {
    WrapperView view = view_of(wrapper);
    queue.running += view.holds ? 1 : 0;
    if (view.waits) {
      const double priority =
          wrapper.status.system_priority.value_or(static_cast<double>(wrapper.spec.priority));
      line.push_back({std::move(view), priority});
    }
  }
  std::ranges::sort(line, [](const Waiting& a, const Waiting& b) {
    return std::forward_as_tuple(is_held(a.view), -a.priority, a.view.submitted, a.view.ns,
                                 a.view.name) < std::forward_as_tuple(is_held(b.view), -b.priority,
                                                                      b.view.submitted, b.view.ns,
                                                                      b.view.name);
  });
  for (Waiting& waiting : line) {
    const std::int64_t position =
        is_held(waiting.view) ? 0 : static_cast<std::int64_t>(queue.entries.size()) + 1;
    queue.entries.push_back({position, std::move(waiting.view)});
  }
  return queue;
}

std::string render_queue(const QueueView& queue, const QueueOptions& options, WallTime now) {
  Table table({"POSITION", "NAMESPACE", "NAME", "PRIORITY", "WAITS", "REASON"});
  if (options.wide) {
    table.add_column("MESSAGE");
  }
  for (const QueueView::Entry& entry : queue.entries) {
    if (!shown(entry, options)) {
      continue;
    }
    const WrapperView& view = entry.view;
    std::vector<std::string> row = {
        position_text(entry.position), view.ns,    view.name, std::to_string(view.priority),
        age_text(view.submitted, now), view.reason};
    if (options.wide) {
      row.push_back(view.message);
    }
    table.add_row(std::move(row));
  }
  return (table.empty() ? std::string() : table.to_text()) + summary_line(queue);
}

std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options) {
  std::map<std::string, const QueueView::Entry*> old;
  for (const QueueView::Entry& entry : before.entries) {
    old[key_of(entry.view)] = &entry;
  }
  std::string out;
  for (const QueueView::Entry& entry : after.entries) {
    const auto known = old.find(key_of(entry.view));
    const bool same = known != old.end() && known->second->position == entry.position &&
                      known->second->view.reason == entry.view.reason;
    if (known != old.end()) {
      old.erase(known);
    }
    if (same || !shown(entry, options)) {
      continue;
    }
    out += key_of(entry.view) + " waits at " + position_text(entry.position);
    if (!entry.view.reason.empty()) {
      out += ": " + entry.view.reason;
    }
    if (!entry.view.message.empty()) {
      out += ": " + one_line(entry.view.message);
    }
    out += "\n";
  }
  for (const auto& [key, entry] : old) {
    if (shown(*entry, options)) {
      out += key + " has left the queue\n";
    }
  }
  if (before.paused != after.paused) {
    out += after.paused ? "the queue is paused\n" : "the queue goes on\n";
  }
  return out;
}

std::string queue_json(const QueueView& queue, const QueueOptions& options, WallTime now) {
  std::string compact;
  json::Writer w(compact);
  w.begin_object().key("paused").boolean(queue.paused);
  w.key("running").integer(static_cast<std::int64_t>(queue.running));
  w.key("waiting").begin_array();
  for (const QueueView::Entry& entry : queue.entries) {
    if (!shown(entry, options)) {
      continue;
    }
    const WrapperView& view = entry.view;
    w.begin_object();
    if (entry.position > 0) {
      w.key("position").integer(entry.position);
    }
    w.member("namespace", view.ns).member("name", view.name);
    w.key("priority").integer(view.priority);
    if (view.submitted != WallTime()) {
      w.member("submitted", to_rfc3339(view.submitted));
      w.key("waitSeconds").integer((now - view.submitted) / std::chrono::seconds(1));
    }
    w.key("held").boolean(is_held(view));
    w.member_if_set("reason", view.reason).member_if_set("message", view.message);
    w.end_object();
  }
  w.end_array().end_object();
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root, 4) + "\n";
}

}  // namespace codeflare::cli
