#include "cli/views/work_view.h"

#include "base/human_duration.h"
#include "cli/views/table.h"
#include "cli/views/wrapper_view.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace codeflare::cli {

namespace {

using model::AppWrapper;
using model::AppWrapperCondition;

constexpr std::size_t kLogLines = 5;
constexpr std::size_t kPodsShown = 20;

const AppWrapperCondition* newest(const model::AppWrapperStatus& status, std::string_view type) {
  const AppWrapperCondition* best = nullptr;
  for (const AppWrapperCondition& each : status.conditions) {
    if (each.type == type && each.last_transition &&
        (best == nullptr || each.last_transition->time >= best->last_transition->time)) {
      best = &each;
    }
  }
  return best;
}

bool is_over(const AppWrapper& wrapper) {
  return model::is_terminal(wrapper.status);
}

// When it ended, else now.
WallTime end_of(const AppWrapper& wrapper, WallTime now) {
  return is_over(wrapper) && wrapper.status.finished ? wrapper.status.finished->time : now;
}

// "Job train, Service train and 3 more".
std::string items_text(const std::vector<std::string>& items) {
  constexpr std::size_t kItemsShown = 5;
  std::string text;
  const std::size_t shown = std::min(items.size(), kItemsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + items[i];
  }
  const std::size_t rest = items.size() - shown;
  return rest == 0 ? text : text + " and " + std::to_string(rest) + " more";
}

// "1 pod succeeded, 2 pods failed", as the status counts them.
std::string ends_text(const model::AppWrapperStatus& status) {
  std::string text;
  for (const auto& [count, end] :
       {std::pair(status.succeeded, "succeeded"), std::pair(status.failed, "failed")}) {
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) +
              (count == 1 ? " pod " : " pods ") + end;
    }
  }
  return text;
}

// Lines on work that is over: what it was, how its pods ended, and when.
std::string end_lines(const AppWrapper& wrapper, const Work& work, WallTime now) {
  const model::AppWrapperStatus& status = wrapper.status;
  std::string out;
  if (!work.items.empty()) {
    const std::string ends = ends_text(status);
    out += "  work: " + items_text(work.items) + (ends.empty() ? "" : ": " + ends) + "\n";
  }
  if (status.finished) {
    const auto& first = status.controller_first_dispatch_timestamp;
    out += (first ? "  started " + to_rfc3339(first->time) : "  never started") + ", ended " +
           to_rfc3339(status.finished->time) + " (" + human_duration(now - status.finished->time) +
           " ago)\n";
  }
  return out;
}

std::string age_of(const std::optional<WallTime>& since, WallTime now) {
  return since ? human_duration(now - *since) : "-";
}

std::string unready_table(const std::vector<queue::UnreadyPod>& pods, WallTime now) {
  Table table({"  POD", "NODE", "FOR", "REASON"});
  for (std::size_t i = 0; i < std::min(pods.size(), kPodsShown); ++i) {
    table.add_row({"  " + pods[i].pod, pods[i].node.empty() ? "-" : pods[i].node,
                   age_of(pods[i].since, now), pods[i].why});
  }
  std::string text = "\nPods that are not ready:\n" + table.to_text();
  if (pods.size() > kPodsShown) {
    text += "  and " + std::to_string(pods.size() - kPodsShown) + " more\n";
  }
  return text;
}

std::string log_text(const queue::PodTrouble& trouble, const std::vector<std::string>& lines) {
  const std::string container =
      trouble.container.starts_with("init ") ? trouble.container : "container " + trouble.container;
  std::string text = "\nLast lines of the log of pod " + trouble.pod + ", " + container + ":\n";
  for (const std::string& line : lines) {
    text += "  " + one_line(line) + "\n";
  }
  return text;
}

}  // namespace

std::optional<WorkTimes> times_of(const AppWrapper& wrapper, WallTime now) {
  if (!wrapper.metadata.creation_timestamp) {
    return std::nullopt;
  }
  const model::AppWrapperStatus& status = wrapper.status;
  const WallTime end = end_of(wrapper, now);
  Duration ran = std::chrono::seconds(status.consumed_seconds);
  if (status.plan && status.plan->started) {
    ran += std::max(end - status.plan->started->time, Duration::zero());
  }
  const Duration all = std::max(end - *wrapper.metadata.creation_timestamp, Duration::zero());
  return WorkTimes{.waited = std::max(all - ran, Duration::zero()), .ran = ran};
}

std::string times_text(const AppWrapper& wrapper, WallTime now) {
  const std::optional<WorkTimes> times = times_of(wrapper, now);
  if (!times) {
    return {};
  }
  const std::string waited = "waited " + human_duration(times->waited);
  const model::AppWrapperStatus& status = wrapper.status;
  // Its pods may still wait for an image.
  if (status.plan && status.plan->started && status.consumed_seconds == 0 && !is_over(wrapper)) {
    return waited + ", started " + human_duration(times->ran) + " ago";
  }
  return waited + ", ran " + human_duration(times->ran);
}

std::string stop_text(const AppWrapper& wrapper, WallTime now) {
  const AppWrapperCondition* stop = newest(wrapper.status, "PreemptCandidate");
  if (stop == nullptr || wrapper.status.plan || is_over(wrapper)) {
    return {};
  }
  std::string text = stop->reason + " " + human_duration(now - stop->last_transition->time) +
                     " ago" + (stop->message.empty() ? "" : ": " + one_line(stop->message));
  const std::string times = times_text(wrapper, now);
  return times.empty() ? text : text + "; in all it " + times;
}

std::string nodes_of(const std::vector<model::Pod>& pods) {
  std::map<std::string, int> counts;
  for (const model::Pod& pod : pods) {
    if (!pod.spec.node_name.empty()) {
      ++counts[pod.spec.node_name];
    }
  }
  std::string text;
  for (const auto& [node, count] : counts) {
    text += (text.empty() ? "" : ",") + node + ":" + std::to_string(count);
  }
  return text;
}

std::vector<std::string> last_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      lines.emplace_back(line);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (lines.size() > kLogLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLogLines));
  }
  return lines;
}

std::string render_work(const AppWrapper& wrapper, const Work& work, std::string_view told,
                        WallTime now) {
  std::string out;
  const std::optional<queue::PodTrouble> trouble = work.trouble();
  if (trouble && !told.contains(one_line(trouble->what))) {
    out += "  " + one_line(trouble->text()) + "\n";
  }
  if (!work.warning.empty()) {
    out += "  " + one_line(work.warning) + "\n";
  }
  if (is_over(wrapper)) {
    out += end_lines(wrapper, work, now);
  }
  if (const std::string times = times_text(wrapper, now); !times.empty()) {
    const std::string nodes = is_over(wrapper) ? nodes_of(work.pods) : "";
    out += "  " + times + (nodes.empty() ? "" : " on " + nodes_in_words(nodes)) + "\n";
  }
  if (!is_over(wrapper)) {
    if (!work.stays.empty()) {
      out += "  stays until it is deleted: " + one_line(work.stays) + "\n";
    }
    if (const auto unready = queue::unready_pods(work.pods); !unready.empty()) {
      out += unready_table(unready, now);
    }
  }
  if (trouble && !work.log.empty()) {
    out += log_text(*trouble, work.log);
  }
  return out;
}

void write_work(json::Writer& w, const AppWrapper& wrapper, const Work& work, WallTime now) {
  if (const std::optional<WorkTimes> times = times_of(wrapper, now)) {
    w.key("waitedSeconds").integer(times->waited / std::chrono::seconds(1));
    w.key("ranSeconds").integer(times->ran / std::chrono::seconds(1));
  }
  if (const auto& first = wrapper.status.controller_first_dispatch_timestamp) {
    w.member("started", to_rfc3339(first->time));
  }
  if (wrapper.status.finished) {
    w.member("finished", to_rfc3339(wrapper.status.finished->time));
  }
  w.key("items").begin_array();
  for (const std::string& item : work.items) {
    w.string(item);
  }
  w.end_array();
  w.member_if_set("nodes", nodes_of(work.pods));
  w.member_if_set("stays", work.stays);
  w.member_if_set("warning", work.warning);
  if (const std::optional<queue::PodTrouble> trouble = work.trouble()) {
    w.key("cause").begin_object().member("pod", trouble->pod);
    w.member_if_set("container", trouble->container);
    w.member("reason", trouble->reason).member("message", trouble->text());
    if (trouble->exit_code) {
      w.key("exitCode").integer(*trouble->exit_code);
    }
    w.key("restarts").integer(trouble->restarts);
    if (trouble->since) {
      w.member("since", to_rfc3339(*trouble->since));
    }
    w.key("log").begin_array();
    for (const std::string& line : work.log) {
      w.string(line);
    }
    w.end_array().end_object();
  }
  w.key("notReady").begin_array();
  for (const queue::UnreadyPod& pod : queue::unready_pods(work.pods)) {
    w.begin_object().member("pod", pod.pod).member_if_set("node", pod.node);
    w.member("reason", pod.why);
    if (pod.since) {
      w.member("since", to_rfc3339(*pod.since));
    }
    w.end_object();
  }
  w.end_array();
}

}  // namespace codeflare::cli
