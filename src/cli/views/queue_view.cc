#include "cli/views/queue_view.h"

#include "base/check.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

bool is_held(const WrapperView& view) {
  return view.held;
}

bool shown(const QueueView::Entry& entry, const QueueOptions& options) {
  return options.ns.empty() || entry.view.ns == options.ns;
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
    text += "; the queue is paused: nothing starts until `codeflare queue resume`";
  }
  return text + "\n";
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
                   bool paused, WallTime now) {
  QueueView view{.paused = paused};
  // Without nodes nothing starts, and the line needs none.
  queue::Queue queue({.core = queue::core_options(settings), .user_check = true});
  std::map<std::string, WrapperView> waiting;
  for (const GroupedWrapper& wrapper : wrappers) {
    WrapperView each = view_of(wrapper);
    view.running += each.holds ? 1 : 0;
    if (each.waits) {
      add_to_queue(queue, wrapper, now);
      waiting.emplace(wrapper.metadata.uid, std::move(each));
    }
  }
  for (const queue::WrapperId& id : queue.line(now, waiting.size())) {
    auto found = waiting.extract(id.uid);
    view.entries.push_back(
        {static_cast<std::int64_t>(view.entries.size()) + 1, std::move(found.mapped())});
  }
  std::vector<WrapperView> rest;
  for (auto& [uid, each] : waiting) {
    rest.push_back(std::move(each));
  }
  std::ranges::sort(rest, [](const WrapperView& a, const WrapperView& b) {
    return std::forward_as_tuple(is_held(a), -a.priority, a.submitted, a.ns, a.name, a.api) <
           std::forward_as_tuple(is_held(b), -b.priority, b.submitted, b.ns, b.name, b.api);
  });
  for (WrapperView& each : rest) {
    view.entries.push_back({0, std::move(each)});
  }
  return view;
}

std::string render_queue(const QueueView& queue, const QueueOptions& options, WallTime now) {
  std::vector<std::string> header = {"POSITION", "NAMESPACE", "NAME",
                                     "PRIORITY", "WAITS",     "REASON"};
  const bool groups = std::ranges::any_of(queue.entries, [&](const QueueView::Entry& entry) {
    return entry.view.is_of_mcad() && shown(entry, options);
  });
  constexpr std::ptrdiff_t kGroupColumn = 3;
  if (groups) {
    header.insert(header.begin() + kGroupColumn, "GROUP");
  }
  Table table(std::move(header));
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
    if (groups) {
      row.insert(row.begin() + kGroupColumn, view.group());
    }
    if (options.wide) {
      row.push_back(view.message);
    }
    table.add_row(std::move(row));
  }
  return (table.empty() ? std::string() : table.to_text()) + summary_line(queue);
}

std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options) {
  const Changes changes = changes_of(before, after, options);
  std::string out;
  for (const QueueView::Entry* entry : changes.waits) {
    out += entry->view.full_name() + " waits at " + position_text(entry->position);
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
    out += after.paused ? "the queue is paused\n" : "the queue goes on\n";
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
  w.key("waiting").begin_array();
  for (const QueueView::Entry& entry : queue.entries) {
    if (!shown(entry, options)) {
      continue;
    }
    w.begin_object();
    write_entry(w, entry, now);
    w.end_object();
  }
  w.end_array().end_object();
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root, 4) + "\n";
}

}  // namespace codeflare::cli
