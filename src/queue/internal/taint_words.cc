#include "queue/internal/taint_words.h"

#include "sched/taints.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr std::size_t kNamesMax = 3;

// Kubernetes adds and removes these as the node's conditions change.
bool is_condition(const sched::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

// CLUSTER/NODE: kubectl of this cluster does not know the node.
bool is_away(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) { return name.contains('/'); });
}

std::string arguments(const std::vector<std::string>& names, std::int64_t all) {
  if (std::cmp_less(names.size(), all) || names.empty()) {
    return " NODE";
  }
  std::string text;
  for (const std::string& name : names) {
    text += " " + name;
  }
  return text;
}

std::string toleration_text(const sched::Taint& taint) {
  const std::string value =
      taint.value.empty() ? "operator: Exists" : "operator: Equal, value: " + taint.value;
  return "{key: " + taint.key + ", " + value +
         ", effect: " + std::string(sched::effect_text(taint.effect)) + "}";
}

}  // namespace

std::string some_names(const std::vector<std::string>& names, std::int64_t all) {
  std::string text;
  const std::size_t shown = std::min(names.size(), kNamesMax);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  const std::int64_t rest = all - static_cast<std::int64_t>(shown);
  return rest <= 0 ? text : text + " and " + std::to_string(rest) + " more";
}

std::string taint_cure(const sched::Taint& taint, const std::vector<std::string>& names,
                       std::int64_t all, bool exact) {
  if (taint == sched::cordon()) {
    return is_away(names) ? "uncordon in the worker cluster"
                          : "run 'kubectl uncordon" + arguments(names, all) + "'";
  }
  if (is_condition(taint)) {
    return "Kubernetes removes this taint when the condition of the node ends";
  }
  const std::string tolerate = exact
                                   ? "add the toleration " + toleration_text(taint) + " to the pods"
                                   : "tolerate the taint";
  if (is_away(names)) {
    return tolerate + ", or remove the taint in the worker cluster";
  }
  return tolerate + ", or run 'kubectl taint nodes" + arguments(names, all) + " " + taint.key +
         ":" + std::string(sched::effect_text(taint.effect)) + "-'";
}

std::string tainted_advice(const std::vector<sched::TaintedNode>& nodes) {
  std::vector<std::string> all;
  std::map<std::string, std::pair<sched::Taint, std::vector<std::string>>> by_taint;
  for (const sched::TaintedNode& node : nodes) {
    all.push_back(node.name);
    for (const sched::Taint& taint : node.taints) {
      auto& [known, names] = by_taint[sched::taint_text(taint)];
      known = taint;
      names.push_back(node.name);
    }
  }
  const auto count = static_cast<std::int64_t>(all.size());
  std::string text = std::string("fits with ") + (count == 1 ? "node " : "nodes ") +
                     some_names(all, count) + " once running work ends";
  for (const auto& [name, found] : by_taint) {
    const auto& [taint, names] = found;
    text += "; for taint " + name + " " +
            taint_cure(taint, names, static_cast<std::int64_t>(names.size()), true);
  }
  return text;
}

}  // namespace codeflare::queue
