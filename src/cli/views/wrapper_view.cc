#include "cli/views/wrapper_view.h"

#include "base/human_duration.h"
#include "cli/views/kinds.h"
#include "cli/views/table.h"
#include "cli/views/work_view.h"
#include "model/managed_cluster.h"
#include "queue/status_words.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace codeflare::cli {

namespace {

using model::AppWrapper;
using model::AppWrapperCondition;

const AppWrapperCondition* newest(const model::AppWrapperStatus& status, std::string_view type) {
  const auto found = std::find_if(status.conditions.rbegin(), status.conditions.rend(),
                                  [&](const AppWrapperCondition& c) { return c.type == type; });
  return found == status.conditions.rend() ? nullptr : &*found;
}

// By its owner, and not on its way out.
bool is_held(const AppWrapper& wrapper) {
  return wrapper.spec.suspend.value_or(false) && !model::is_terminal(wrapper.status) &&
         !wrapper.status.plan && !wrapper.metadata.deleting();
}

std::string state_of(const AppWrapper& wrapper) {
  const std::string& state = wrapper.status.state;
  if (wrapper.metadata.deleting()) {
    return "Deleting";
  }
  if (is_held(wrapper)) {
    return std::string(queue::word(queue::Reason::held));
  }
  return state.empty() ? std::string(model::app_wrapper_state::kPending) : state;
}

std::string pods_of(const model::AppWrapperStatus& status) {
  const std::int64_t good = std::int64_t{status.running} + status.succeeded;
  const std::int64_t all = good + status.pending + status.failed;
  return all == 0 ? "-" : std::to_string(good) + "/" + std::to_string(all);
}

// Of what was requeued too often. MCAD and older controllers say only why it was stopped last.
const AppWrapperCondition* why_deleted(const model::AppWrapperStatus& status) {
  const AppWrapperCondition* queued = newest(status, "Queued");
  return queued != nullptr && queue::has_reason(*queued, queue::Reason::requeued_too_often)
             ? queued
             : newest(status, "PreemptCandidate");
}

// The condition that says why it is where it is.
const AppWrapperCondition* telling(const AppWrapper& wrapper, bool waits) {
  const model::AppWrapperStatus& status = wrapper.status;
  if (status.state == model::app_wrapper_state::kFailed) {
    return newest(status, "Failed");
  }
  if (status.state == model::app_wrapper_state::kDeleted) {
    return why_deleted(status);
  }
  // Its objects are being deleted.
  if (status.plan && !status.can_run) {
    return newest(status, "PreemptCandidate");
  }
  if (!waits) {
    return nullptr;
  }
  // Older controllers tell it as Backoff only.
  const AppWrapperCondition* queued = newest(status, "Queued");
  return queued != nullptr ? queued : newest(status, "Backoff");
}

void append_field(std::string& out, std::string_view name, const std::string& value) {
  constexpr std::size_t kWidth = 12;
  if (value.empty()) {
    return;
  }
  out += name;
  out += ':';
  out.append(kWidth > name.size() + 1 ? kWidth - name.size() - 1 : 1, ' ');
  out += one_line(value) + "\n";
}

std::string when_text(WallTime time, WallTime now) {
  return to_rfc3339(time) + " (" + human_duration(now - time) + " ago)";
}

// The controller writes counts that change at most so often.
constexpr Duration kCountsAgeMax = std::chrono::seconds(5);

// Nothing is counted: of work that was just dispatched that says little.
std::string no_counts_text(const model::AppWrapperStatus& status, WallTime now) {
  if (!status.plan || !status.can_run) {
    return "none";
  }
  std::int64_t planned = 0;
  for (const model::PlannedPlace& place : status.plan->places) {
    planned += place.count;
  }
  const std::string all = " of " + std::to_string(planned) + " planned";
  if (!status.plan->started) {
    return "none" + all;
  }
  const Duration age = now - status.plan->started->time;
  const std::string when = "dispatched " + human_duration(age) + " ago";
  return age <= 2 * kCountsAgeMax ? "none counted yet" + all + ": " + when + ", counts are up to " +
                                        human_duration(kCountsAgeMax) + " old"
                                  : "none" + all + ", " + when;
}

std::string counts_text(const model::AppWrapperStatus& status, WallTime now) {
  std::string text;
  const auto add = [&](std::int32_t count, const char* what) {
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    }
  };
  add(status.pending, "pending");
  add(status.running, "running");
  add(status.succeeded, "succeeded");
  add(status.failed, "failed");
  return text.empty() ? no_counts_text(status, now) : text;
}

std::string conditions_text(const model::AppWrapperStatus& status, WallTime now) {
  if (status.conditions.empty()) {
    return "Conditions:  none yet; check that the controller is running\n";
  }
  Table table({"  TYPE", "STATUS", "AGE", "REASON", "MESSAGE"});
  for (const AppWrapperCondition& condition : status.conditions) {
    const auto& time =
        condition.last_transition ? condition.last_transition : condition.last_update;
    table.add_row({"  " + condition.type, condition.status, time ? age_text(time->time, now) : "-",
                   condition.reason, condition.message});
  }
  return "Conditions:\n" + table.to_text();
}

std::string durations_text(const model::AppWrapperSpec& spec) {
  if (!spec.scheduling_spec || !spec.scheduling_spec->dispatch_duration) {
    return "";
  }
  const model::DispatchDuration& duration = *spec.scheduling_spec->dispatch_duration;
  std::string text;
  if (duration.expected > 0) {
    text += "expected " + human_duration(std::chrono::seconds(duration.expected));
  }
  if (duration.limit > 0) {
    text += std::string(text.empty() ? "" : ", ") + "at most " +
            human_duration(std::chrono::seconds(duration.limit));
  }
  return text;
}

}  // namespace

std::string age_text(WallTime since, WallTime now) {
  return since == WallTime() ? "-" : human_duration(now - since);
}

std::string WrapperView::group() const {
  return std::string(model::group_of(api));
}

bool WrapperView::is_elsewhere() const {
  return !cluster.empty() && cluster != model::managed_cluster::kLocal;
}

std::string WrapperView::full_name() const {
  return ns + "/" + name + model::group_suffix(api);
}

WrapperView view_of(const GroupedWrapper& wrapper) {
  const model::AppWrapperStatus& status = wrapper.status;
  WrapperView view{.uid = wrapper.metadata.uid,
                   .ns = wrapper.metadata.ns,
                   .name = wrapper.metadata.name,
                   .api = wrapper.api,
                   .state = state_of(wrapper),
                   .priority = wrapper.spec.priority,
                   .pods = pods_of(status),
                   .nodes = status.plan ? nodes_text(status.plan->places) : ""};
  view.submitted = wrapper.metadata.creation_timestamp.value_or(WallTime());
  view.holds = status.plan.has_value();
  if (status.plan && !status.plan->places.empty()) {
    view.cluster = model::managed_cluster::cluster_of_node(status.plan->places.front().node);
  }
  view.waits = !view.holds && !status.can_run && !model::is_terminal(status) &&
               !wrapper.metadata.deleting() &&
               (status.state.empty() || status.state == model::app_wrapper_state::kPending);
  view.held = is_held(wrapper);
  if (view.held) {
    view.reason = view.state;
    view.message = "held by its owner; run 'codeflare release " +
                   app_wrapper_kind(view.api).word() + " " + view.name + "' to let it start";
  } else if (wrapper.metadata.deleting() && !status.message.empty()) {
    view.message = status.message;  // what does not go
  } else if (const AppWrapperCondition* condition = telling(wrapper, view.waits)) {
    view.reason = condition->reason;
    view.message = condition->message;
  } else if (view.holds) {
    view.message = status.message;  // pods beyond the plan, ignored fields
  }
  return view;
}

void add_cause(WrapperView& view, const Cause& cause) {
  if (view.reason.empty()) {
    view.reason = cause.reason;
  }
  if (view.message.empty()) {
    view.message = cause.text;
  }
}

std::string render_list(std::vector<WrapperView> views, const ListOptions& options, WallTime now) {
  std::ranges::sort(views, [](const WrapperView& a, const WrapperView& b) {
    return std::tie(a.ns, a.name, a.api) < std::tie(b.ns, b.name, b.api);
  });
  std::vector<std::string> header = {"NAME", "STATE", "PRIORITY", "PODS", "REASON", "AGE"};
  const bool groups = std::ranges::any_of(views, &WrapperView::is_of_mcad);
  if (groups) {
    header.insert(header.begin() + 1, "GROUP");
  }
  const bool clusters = options.clusters || std::ranges::any_of(views, &WrapperView::is_elsewhere);
  if (clusters) {
    header.insert(header.end() - 1, "CLUSTER");
  }
  if (options.all_namespaces) {
    header.insert(header.begin(), "NAMESPACE");
  }
  Table table(std::move(header));
  if (options.wide) {
    table.add_column("NODES");
    table.add_column("MESSAGE");
  }
  for (const WrapperView& view : views) {
    std::vector<std::string> row = {view.name, view.state,  std::to_string(view.priority),
                                    view.pods, view.reason, age_text(view.submitted, now)};
    if (groups) {
      row.insert(row.begin() + 1, view.group());
    }
    if (clusters) {
      row.insert(row.end() - 1, view.cluster.empty() ? "-" : view.cluster);
    }
    if (options.all_namespaces) {
      row.insert(row.begin(), view.ns);
    }
    if (options.wide) {
      row.push_back(view.nodes);
      row.push_back(view.message);
    }
    table.add_row(std::move(row));
  }
  return table.to_text();
}

std::string render_status(const GroupedWrapper& wrapper, WallTime now,
                          const std::optional<Cause>& cause) {
  const model::AppWrapperStatus& status = wrapper.status;
  WrapperView view = view_of(wrapper);
  if (cause) {
    add_cause(view, *cause);
  }
  std::string out;
  append_field(out, "Name", view.name);
  append_field(out, "Namespace", view.ns);
  append_field(out, "Group", view.is_of_mcad() ? view.group() : "");
  append_field(out, "State", view.state);
  append_field(out, "Priority", std::to_string(view.priority));
  if (view.submitted != WallTime()) {
    append_field(out, "Submitted", when_text(view.submitted, now));
  }
  if (status.plan && status.plan->started) {
    append_field(out, "Started", when_text(status.plan->started->time, now));
  }
  if (status.finished) {
    append_field(out, "Finished", when_text(status.finished->time, now));
  }
  append_field(out, "Times", view.waits ? "" : times_text(wrapper, now));
  append_field(out, "Duration", durations_text(wrapper.spec));
  append_field(out, view.waits ? "Waits for" : "Reason", view.reason);
  append_field(out, "Message", view.message.empty() ? status.message : view.message);
  append_field(out, "Pods", counts_text(status, now));
  append_field(out, "Nodes", view.nodes);
  append_field(out, "Stopped", view.waits ? stop_text(wrapper, now) : "");
  if (status.number_of_requeueings > 0) {
    append_field(out, "Requeued", std::to_string(status.number_of_requeueings) + " times");
  }
  return out + conditions_text(status, now);
}

std::string nodes_text(const std::vector<model::PlannedPlace>& places) {
  std::map<std::string, std::int64_t> counts;
  for (const model::PlannedPlace& place : places) {
    counts[place.node] += place.count;
  }
  std::string text;
  for (const auto& [node, count] : counts) {
    text += (text.empty() ? "" : ",") + node + ":" + std::to_string(count);
  }
  return text;
}

std::string nodes_in_words(std::string_view nodes) {
  std::string text;
  while (!nodes.empty()) {
    const std::string_view one = nodes.substr(0, nodes.find(','));
    nodes.remove_prefix(std::min(nodes.size(), one.size() + 1));
    const std::size_t colon = one.rfind(':');
    const std::string_view count = one.substr(colon + 1);
    text += (text.empty() ? "" : ", ") + std::string(one.substr(0, colon)) + " (" +
            std::string(count) + (count == "1" ? " pod)" : " pods)");
  }
  return text;
}

}  // namespace codeflare::cli
