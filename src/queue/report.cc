#include "queue/report.h"

#include "base/close_words.h"
#include "queue/internal/amounts.h"
#include "queue/internal/standing_of.h"
#include "queue/internal/taint_words.h"
#include "queue/status_words.h"

#include <algorithm>
#include <span>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr std::size_t kHoldersMax = 10;
constexpr std::size_t kHoldersCounted = 10'000;
constexpr std::size_t kHoldersOfDomain = 2;
constexpr std::size_t kNameLengthMax = 63;  // of a label's value

std::string pods_text(std::int64_t pods) {
  return std::to_string(pods) + (pods == 1 ? " pod" : " pods");
}

std::string holder_text(const Queue& queue, const sched::Holder& holder) {
  std::string text = queue.name_of(holder.gang) + " holds " + amounts_text(holder.held);
  if (holder.growth > 0) {
    text += ", " + pods_text(holder.growth) + " above its minimum";
  }
  if (holder.ends) {
    text += ", expected to end at " + to_rfc3339(*holder.ends);
  }
  return text;
}

void add_holders(const Queue& queue, const std::vector<sched::Holder>& holders, Report& report) {
  for (std::size_t i = 0; i < std::min(holders.size(), kHoldersMax); ++i) {
    report.holders.push_back(holder_text(queue, holders[i]));
  }
  if (holders.size() > kHoldersMax) {
    report.holders.push_back("and " + std::to_string(holders.size() - kHoldersMax) +
                             (holders.size() == kHoldersCounted ? " or more" : " more"));
  }
}

// The work that holds most of what is needed there, and when it ends.
std::string held_by_text(const Queue& queue, const std::vector<sched::Holder>& holders,
                         const std::string& domain) {
  std::string text;
  std::size_t count = 0;
  for (const sched::Holder& each : holders) {
    if (std::ranges::find(each.domains, domain) == each.domains.end() ||
        ++count > kHoldersOfDomain) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + queue.name_of(each.gang) +
            (each.ends ? " until " + to_rfc3339(*each.ends) : "");
  }
  return count > kHoldersOfDomain
             ? text + " and " + std::to_string(count - kHoldersOfDomain) + " more"
             : text;
}

std::vector<ReportLine> lines(const sched::Explanation& explanation) {
  std::vector<ReportLine> result;
  for (const sched::Shortage& each : explanation.shortages) {
    const auto text = [&](sched::Amount amount) { return quantity_text(each.resource, amount); };
    result.push_back({each.resource, text(each.requested), text(each.free), text(each.capacity),
                      text(each.pod), text(each.best_node), text(each.largest_node),
                      each.short_in_sum()});
  }
  return result;
}

// The requests of pods outside the queue, for the resources of the report, without their number.
std::string outside_text(const Queue& queue, const std::vector<ReportLine>& shortages) {
  const sched::Resources sum = queue.outside();
  std::string text;
  for (const ReportLine& line : shortages) {
    const sched::Amount amount = amount_of(sum, line.resource);
    if (amount > 0 && line.resource != "pods") {
      text += (text.empty() ? "pods outside the queue hold " : ", ") +
              human_resource(line.resource, amount);
    }
  }
  return text;
}

// "taint dedicated=ml:NoSchedule excludes 1 of 2 nodes: n1; tolerate ...". Where the advice has
// nodes that would let it fit, it has their cure as well.
std::vector<std::string> constraints(const sched::Explanation& explanation) {
  const bool advised = !explanation.cordoned.empty() || !explanation.tainted.empty();
  std::vector<std::string> result;
  for (const sched::PodSetReport& set : explanation.pod_sets) {
    for (const sched::Exclusion& each : set.excluded) {
      result.push_back(
          each.constraint + " excludes " + std::to_string(each.nodes) + " of " +
          std::to_string(set.nodes_all) + " nodes" +
          (explanation.pod_sets.size() == 1 ? "" : " for pod set " + std::to_string(set.pod_set)) +
          ": " + some_names(each.names, each.nodes) +
          (each.taint && !advised ? "; " + taint_cure(*each.taint, each.names, each.nodes, true)
                                  : ""));
    }
  }
  return result;
}

// The shortage of all nodes together, whatever ends: "24 nvidia.com/gpu more, 48 CPUs more".
std::string missing_in_sum(const sched::Explanation& explanation) {
  std::string needs;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.requested > each.capacity) {
      // New nodes must hold at least one pod.
      const auto more = std::max(each.requested - each.capacity, each.pod);
      needs += (needs.empty() ? "" : ", ") + human_resource(each.resource, more) + " more";
    }
  }
  return needs;
}

// "8 CPUs, 64Gi memory on one node", and what all of them must have if one is not enough.
std::string larger_nodes(const sched::Explanation& explanation) {
  // Of pods that are all alike none fits on the nodes that exist.
  const bool alike = explanation.pod_sets.size() == 1;
  std::string one;
  std::string all;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod_too_large()) {
      one += (one.empty() ? "" : ", ") + human_resource(each.resource, each.pod);
    }
    const sched::Amount sum = each.requested - (alike ? 0 : each.capacity);
    if (sum > each.pod && each.resource != "pods") {
      all += (all.empty() ? "" : ", ") + human_resource(each.resource, sum);
    }
  }
  return one + " on one node" + (all.empty() ? "" : ", and " + all + " in total");
}

std::string needed_nodes(const sched::Explanation& explanation) {
  return std::ranges::any_of(explanation.shortages, &sched::Shortage::pod_too_large)
             ? larger_nodes(explanation)
             : missing_in_sum(explanation);
}

// The sum of all nodes would do, but not one node for each pod.
std::string node_for_a_pod(const sched::Explanation& explanation) {
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.resource != "pods" && each.requested > each.free) {
      return human_resource(each.resource, each.pod) + " on one node";
    }
  }
  return {};
}

std::string nodes_advice(const sched::Explanation& explanation) {
  std::string needs = needed_nodes(explanation);
  if (needs.empty()) {
    needs = node_for_a_pod(explanation);
  }
  // Where nothing helps but other nodes, the report says so by itself.
  return std::string(explanation.never_fits ? "" : "does not fit even if all running work ends; ") +
         "request less, or add nodes" + (needs.empty() ? "" : " with " + needs);
}

// Enough nodes exist, but some of them take no new pods.
std::string uncordon_advice(const std::vector<std::string>& cordoned) {
  std::string names;
  std::string command = "kubectl uncordon";
  bool away = false;
  for (const std::string& name : cordoned) {
    names += (names.empty() ? "" : ", ") + name;
    command += " " + name;
    away = away || name.contains('/');  // CLUSTER/NODE of a worker cluster
  }
  return "fits with cordoned " + std::string(cordoned.size() == 1 ? "node " : "nodes ") + names +
         " once running work ends; " +
         (away ? "uncordon in the worker cluster" : "run '" + command + "'");
}

// Quota is not all that it waits for.
std::string nodes_as_well(const sched::Explanation& explanation) {
  const std::string needs = needed_nodes(explanation);
  if (!needs.empty()) {
    return ", and add nodes with " + needs;
  }
  const bool full = std::ranges::any_of(explanation.shortages, [](const sched::Shortage& each) {
    return each.requested > each.free || each.pod > each.best_node;
  });
  return full ? "; the nodes must have room as well" : "";
}

// The core knows one way not to be tried, the queue three.
std::string held_advice(const WorkId& id, const Standing& standing) {
  if (standing.reason == Reason::user_unknown) {
    return "create the AppWrapper again while the admission webhook is served";
  }
  if (standing.reason == Reason::retry_later) {
    return "nothing to do: the controller retries";
  }
  return release_text(id);
}

// Possible values of its label, the likeliest first.
std::string label_advice(const sched::QuotaReport& unknown) {
  constexpr std::size_t kNamesMax = 10;
  std::vector<std::string> names = unknown.choices;
  if (names.empty()) {
    return "add a quota node to tree " + unknown.tree + ": it has none that the namespace may use";
  }
  std::ranges::sort(names, {}, [&](const std::string& name) {
    const std::string_view meant = std::string_view(unknown.node).substr(0, kNameLengthMax);
    return std::pair(edit_distance(std::string_view(name).substr(0, kNameLengthMax), meant), name);
  });
  const auto shown_as = [&](const std::string& name) {
    return std::ranges::find(unknown.full, name) != unknown.full.end() ? name + " (no room now)"
                                                                       : name;
  };
  std::string text =
      "set the label to an existing quota node: " + unknown.tree + "=" + shown_as(names.front());
  const std::size_t shown = std::min(names.size(), kNamesMax);
  for (std::size_t i = 1; i < shown; ++i) {
    text += ", " + shown_as(names[i]);
  }
  const std::size_t rest = names.size() - shown;
  return rest == 0 ? text : text + " and " + std::to_string(rest) + " more";
}

// A quota node would not hold it if nothing else were there.
bool beyond_limits(const sched::Explanation& explanation) {
  return explanation.why == Reason::insufficient_quota &&
         std::ranges::any_of(explanation.quota, [](const sched::QuotaReport& quota) {
           return quota.requested > quota.limit;
         });
}

std::string limits_advice(const sched::Explanation& explanation) {
  std::string text;
  for (const sched::QuotaReport& quota : explanation.quota) {
    const bool own = quota.tree.starts_with("ResourceQuota ");
    text += (text.empty() ? "raise the " : ", and the ") + quota.resource + " limit of " +
            (own ? quota.tree : "quota node " + quota.node + " (tree " + quota.tree + ")") +
            " to " + quantity_text(quota.resource, quota.used + quota.requested);
  }
  return text + nodes_as_well(explanation);
}

// Other quota nodes in which it would have room now; empty when the label alone does not help.
std::string room_advice(const sched::Explanation& explanation) {
  const sched::QuotaReport& first = explanation.quota.front();
  const bool one_tree = std::ranges::all_of(
      explanation.quota, [&](const sched::QuotaReport& each) { return each.tree == first.tree; });
  if (!one_tree || first.choices.empty() || first.tree.starts_with("ResourceQuota ")) {
    return "";
  }
  std::string text = "or set the label to a quota node with room: " + first.tree + "=";
  for (const std::string& name : first.choices) {
    text += (&name == &first.choices.front() ? "" : ", ") + name;
  }
  return text;
}

// Whose end, and how many pods fewer of whom, would let it start; empty when it fits.
std::string givers_advice(const Queue& queue, const sched::Advice& found) {
  std::vector<std::string> givers;
  for (const sched::Holder& each : found.would_start_if_ended) {
    givers.push_back(queue.name_of(each.gang) + " (" + amounts_text(each.held) + ")");
  }
  for (const sched::Holder& each : found.would_start_if_shrunk) {
    givers.push_back(queue.name_of(each.gang) + " by " + pods_text(each.growth) + " (" +
                     amounts_text(each.held) + ")");
  }
  if (givers.empty()) {
    return "";
  }
  std::string text = "starts if this work ends: ";
  if (found.would_start_if_ended.empty()) {
    text = "starts if this work shrinks: ";
  } else if (!found.would_start_if_shrunk.empty()) {
    text = "starts if this work ends or shrinks: ";
  }
  for (const std::string& giver : givers) {
    text += (&giver == &givers.front() ? "" : ", ") + giver;
  }
  return text;
}

std::vector<std::string> advice(Queue& queue, const sched::Explanation& explanation,
                                sched::GangId gang, const Report& report, Time now) {
  const Standing& standing = report.standing;
  switch (explanation.why) {
    case Reason::held:
      return {held_advice(report.id, standing)};
    case Reason::paused:
      if (standing.reason != Reason::paused) {
        return {};  // the sentence of the block has it
      }
      return {"run 'codeflare queue resume'"};
    case Reason::unknown_quota:
      if (explanation.quota.empty()) {
        return {};
      }
      return {label_advice(explanation.quota.front())};
    case Reason::none:
    case Reason::preempting:
      return {};
    default:
      break;
  }
  if (standing.reason == Reason::scaling_up) {
    return {"nothing to do: machines are on order"};
  }
  if (beyond_limits(explanation)) {
    return {"needs more than the whole quota; " + limits_advice(explanation)};
  }
  std::vector<std::string> result;
  const auto found = queue.core().advise(gang, now);
  if (found && found->possible) {
    if (std::string text = givers_advice(queue, *found); !text.empty()) {
      result.push_back(std::move(text));
    }
  } else if (!explanation.cordoned.empty()) {
    result.push_back(uncordon_advice(explanation.cordoned));
  } else if (!explanation.tainted.empty()) {
    result.push_back(tainted_advice(explanation.tainted));
  } else {
    result.push_back(explanation.why == Reason::no_node_allowed
                         ? "add nodes that match the constraints, or change the constraints"
                         : nodes_advice(explanation));
  }
  if (explanation.why == Reason::insufficient_quota && !explanation.quota.empty()) {
    result.push_back("or " + limits_advice(explanation));
    if (std::string room = room_advice(explanation); !room.empty()) {
      result.push_back(std::move(room));
    }
  }
  return result;
}

// Why nobody can say when it starts.
std::string no_estimate(const sched::Explanation& explanation) {
  if (!explanation.cordoned.empty()) {
    return "starts after nodes are uncordoned";
  }
  if (!explanation.tainted.empty()) {
    return "starts after the taint is tolerated or removed";
  }
  if (explanation.never_fits) {
    return "does not fit on these nodes";
  }
  if (beyond_limits(explanation)) {
    return "does not fit within this quota";
  }
  switch (explanation.why) {
    case Reason::no_node_allowed:
      return "no node is eligible";
    case Reason::preempting:
      return "starts when evicted work has ended";
    default:
      return "running work does not declare its duration "
             "(schedulingSpec.dispatchDuration.expected)";
  }
}

void add_estimate(Queue& queue, sched::GangId gang, const sched::Explanation& explanation, Time now,
                  Report& report) {
  if (explanation.why == Reason::paused) {
    report.estimate_note =
        report.standing.reason == Reason::paused ? "the queue is paused" : "nothing starts now";
    return;
  }
  const auto estimate = queue.core().estimate(gang, now);
  const std::optional<Time> machines = queue.machines_ready(report.id.uid);
  const bool ends_first = estimate && estimate->start && (!machines || estimate->start <= machines);
  if (machines && *machines > now && !ends_first) {
    report.estimated_start = machines;
    report.estimate_note = "if the machines start as fast as usual (startSeconds)";
    return;
  }
  if (!estimate || !estimate->start) {
    report.estimate_note = no_estimate(explanation);
    return;
  }
  report.estimated_start = estimate->start;
  report.estimated_in = estimate->domain;
  report.estimate_note = estimate->approximate ? "if running work ends as expected; work further "
                                                 "back in a long queue was left out"
                                               : "if running work ends as expected";
}

}  // namespace

Result<Report> explain(Queue& queue, std::string_view uid, Time now) {
  const auto id = queue.id(uid);
  const auto gang = queue.gang(uid);
  if (!id || !gang) {
    return fail(not_found("AppWrapper with uid " + std::string(uid) + " is not in the queue"));
  }
  Report report{.id = *id, .standing = queue.standing(uid), .sentence = queue.sentence(uid, now)};
  if (report.standing.kind != Standing::Kind::waiting) {
    report.estimated_start = report.standing.since;
    return report;
  }
  TRY_ASSIGN(const sched::Explanation explanation, queue.core().explain(*gang, now));
  report.position = explanation.position;
  report.never_fits =
      explanation.never_fits && explanation.cordoned.empty() && explanation.tainted.empty();
  report.shortages = lines(explanation);
  report.within = explanation.within;
  for (const sched::DomainReport& each : explanation.domains) {
    report.domains.push_back(
        {each.name, each.nodes, each.wanted, each.places, domain_sentence(each)});
  }
  report.constraints = constraints(explanation);
  if (explanation.why != Reason::held) {
    TRY_ASSIGN(const auto holders, queue.core().holders(*gang, now, kHoldersCounted));
    add_holders(queue, holders, report);
    for (ReportDomain& domain : report.domains) {
      domain.held_by = held_by_text(queue, holders, domain.name);
    }
  }
  if (explanation.why != Reason::unknown_quota) {
    report.outside = outside_text(queue, report.shortages);
  }
  report.advice = advice(queue, explanation, *gang, report, now);
  if (explanation.why != Reason::held && explanation.why != Reason::unknown_quota) {
    add_estimate(queue, *gang, explanation, now, report);
  }
  return report;
}

namespace {

json::Value texts(json::Arena& arena, const std::vector<std::string>& lines) {
  json::Value array = json::Value::array();
  for (const std::string& line : lines) {
    array.push_back(arena, json::Value::string(arena, line));
  }
  return array;
}

std::string_view kind_word(Standing::Kind kind) {
  switch (kind) {
    case Standing::Kind::waiting:
      return "Waiting";
    case Standing::Kind::started:
      return "Started";
    case Standing::Kind::stopping:
      return "Stopping";
    case Standing::Kind::unknown:
      break;
  }
  return "Unknown";
}

json::Value shortages_json(json::Arena& arena, const std::vector<ReportLine>& shortages) {
  json::Value array = json::Value::array();
  for (const ReportLine& line : shortages) {
    json::Value entry = json::Value::object();
    const auto set = [&](std::string_view key, const std::string& text) {
      entry.set_static(arena, key, json::Value::string(arena, text));
    };
    set("resource", line.resource);
    set("requested", line.requested);
    set("free", line.free);
    set("capacity", line.capacity);
    set("largestPod", line.pod);
    set("mostFreeOnOneNode", line.best_node);
    set("largestNode", line.largest_node);
    entry.set_static(arena, "short", json::Value::boolean(line.short_in_sum));
    array.push_back(arena, entry);
  }
  return array;
}

json::Value domains_json(json::Arena& arena, const std::vector<ReportDomain>& domains) {
  json::Value array = json::Value::array();
  for (const ReportDomain& domain : domains) {
    json::Value entry = json::Value::object();
    entry.set_static(arena, "name", json::Value::string(arena, domain.name));
    entry.set_static(arena, "nodes", json::Value::integer(arena, domain.nodes));
    entry.set_static(arena, "pods", json::Value::integer(arena, domain.pods));
    entry.set_static(arena, "fitting", json::Value::integer(arena, domain.fitting));
    entry.set_static(arena, "message", json::Value::string(arena, domain.text));
    if (!domain.held_by.empty()) {
      entry.set_static(arena, "heldBy", json::Value::string(arena, domain.held_by));
    }
    array.push_back(arena, entry);
  }
  return array;
}

}  // namespace

json::Value to_json(json::Arena& arena, const Report& report) {
  json::Value root = json::Value::object();
  const auto set = [&](std::string_view key, std::string_view text) {
    root.set_static(arena, key, json::Value::string(arena, text));
  };
  set("namespace", report.id.key.ns);
  set("name", report.id.key.name);
  set("uid", report.id.uid);
  set("standing", kind_word(report.standing.kind));
  set("reason", word(report.standing.reason));
  set("message", report.sentence);
  if (report.standing.kind == Standing::Kind::waiting) {
    root.set_static(arena, "position", json::Value::integer(arena, report.position));
    root.set_static(arena, "neverFits", json::Value::boolean(report.never_fits));
    root.set_static(arena, "resources", shortages_json(arena, report.shortages));
    if (!report.within.empty()) {
      set("within", report.within);
      root.set_static(arena, "domains", domains_json(arena, report.domains));
    }
    root.set_static(arena, "constraints", texts(arena, report.constraints));
    root.set_static(arena, "holders", texts(arena, report.holders));
    if (!report.outside.empty()) {
      set("outside", report.outside);
    }
    root.set_static(arena, "advice", texts(arena, report.advice));
    if (report.estimated_start) {
      set("estimatedStart", to_rfc3339(*report.estimated_start));
    }
    if (!report.estimated_in.empty()) {
      set("estimatedIn", report.estimated_in);
    }
    set("estimateNote", report.estimate_note);
    return root;
  }
  if (report.standing.since) {
    set("startedAt", to_rfc3339(*report.standing.since));
  }
  json::Value plan = json::Value::array();
  for (const model::PlannedPlace& place : report.standing.plan) {
    json::Value entry = json::Value::object();
    entry.set_static(arena, "podSet", json::Value::integer(arena, place.pod_set));
    entry.set_static(arena, "node", json::Value::string(arena, place.node));
    entry.set_static(arena, "count", json::Value::integer(arena, place.count));
    plan.push_back(arena, entry);
  }
  root.set_static(arena, "plan", plan);
  return root;
}

namespace {

std::string text_at(const json::Value& object, std::string_view key) {
  return std::string(object.string_or_empty(key));
}

std::int64_t number_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->is_number() ? value->to_int64().value_or(0) : 0;
}

bool flag_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->is_boolean() && value->as_bool();
}

std::optional<Time> time_at(const json::Value& object, std::string_view key) {
  const Result<Time> time = parse_rfc3339(object.string_or_empty(key));
  return time ? std::optional(*time) : std::nullopt;
}

std::span<const json::Value> items_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr ? value->items() : std::span<const json::Value>();
}

std::vector<std::string> texts_at(const json::Value& object, std::string_view key) {
  std::vector<std::string> lines;
  for (const json::Value& item : items_at(object, key)) {
    if (item.is_string()) {
      lines.emplace_back(item.as_string());
    }
  }
  return lines;
}

std::optional<Standing::Kind> kind_of(std::string_view word) {
  for (const Standing::Kind kind : {Standing::Kind::waiting, Standing::Kind::started,
                                    Standing::Kind::stopping, Standing::Kind::unknown}) {
    if (kind_word(kind) == word) {
      return kind;
    }
  }
  return std::nullopt;
}

void read_waiting(const json::Value& root, Report& report) {
  report.position = number_at(root, "position");
  report.never_fits = flag_at(root, "neverFits");
  for (const json::Value& line : items_at(root, "resources")) {
    report.shortages.push_back({text_at(line, "resource"), text_at(line, "requested"),
                                text_at(line, "free"), text_at(line, "capacity"),
                                text_at(line, "largestPod"), text_at(line, "mostFreeOnOneNode"),
                                text_at(line, "largestNode"), flag_at(line, "short")});
  }
  report.within = text_at(root, "within");
  for (const json::Value& domain : items_at(root, "domains")) {
    report.domains.push_back({text_at(domain, "name"), number_at(domain, "nodes"),
                              number_at(domain, "pods"), number_at(domain, "fitting"),
                              text_at(domain, "message"), text_at(domain, "heldBy")});
  }
  report.constraints = texts_at(root, "constraints");
  report.holders = texts_at(root, "holders");
  report.outside = text_at(root, "outside");
  report.advice = texts_at(root, "advice");
  report.estimated_start = time_at(root, "estimatedStart");
  report.estimated_in = text_at(root, "estimatedIn");
  report.estimate_note = text_at(root, "estimateNote");
}

}  // namespace

Result<Report> report_from_json(const json::Value& root) {
  const auto kind = kind_of(root.string_or_empty("standing"));
  if (!kind) {
    return fail(invalid_argument("report: unknown standing \"" + text_at(root, "standing") + "\""));
  }
  Report report;
  report.id.key = {text_at(root, "namespace"), text_at(root, "name")};
  report.id.uid = text_at(root, "uid");
  report.standing.kind = *kind;
  report.standing.reason = reason_of(root.string_or_empty("reason")).value_or(Reason::none);
  report.sentence = text_at(root, "message");
  if (*kind == Standing::Kind::waiting) {
    read_waiting(root, report);
    return report;
  }
  report.standing.since = time_at(root, "startedAt");
  report.estimated_start = report.standing.since;
  for (const json::Value& place : items_at(root, "plan")) {
    report.standing.plan.push_back(
        {.pod_set = static_cast<std::int32_t>(number_at(place, "podSet")),
         .node = text_at(place, "node"),
         .count = number_at(place, "count"),
         .extra = {}});
  }
  return report;
}

}  // namespace codeflare::queue
