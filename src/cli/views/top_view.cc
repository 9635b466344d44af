#include "cli/views/top_view.h"

#include "cli/views/table.h"
#include "model/resource_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace codeflare::cli {

namespace {

using model::Quantity;
using model::ResourceList;

// "0.3 (4%)": the share of what there is to use.
std::string used_text(bool measured, const ResourceList& used, std::string_view resource,
                      const ResourceList& of) {
  if (!measured) {
    return "-";
  }
  const Quantity amount = used.get(resource);
  const Quantity all = of.get(resource);
  // Hundredths of processors are enough to see.
  const Quantity shown =
      resource == "cpu" ? Quantity::milli((amount.milli_value() + 5) / 10 * 10) : amount;
  const std::string text = model::human_amount(resource, shown);
  if (all.sign() <= 0) {
    return text;
  }
  const double share =
      100.0 * static_cast<double>(amount.milli_value()) / static_cast<double>(all.milli_value());
  return text + " (" + std::to_string(static_cast<std::int64_t>(share + 0.5)) + "%)";
}

std::string amount_text(const ResourceList& list, std::string_view resource) {
  const Quantity amount = list.get(resource);
  return amount.is_zero() ? "-" : model::human_amount(resource, amount);
}

json::Value amounts(const ResourceList& list, json::Arena& arena) {
  json::Value object = json::Value::object();
  for (const auto& [name, amount] : list) {
    object.set(arena, name, json::Value::string(arena, amount.to_string()));
  }
  return object;
}

}  // namespace

std::string render_top(const TopView& view) {
  std::string text;
  if (view.with_nodes) {
    Table nodes({"NODE", "CPU", "REQUESTED", "ALLOCATABLE", "MEMORY", "REQUESTED", "ALLOCATABLE"});
    for (const TopNode& node : view.nodes) {
      std::vector<std::string> row = {node.name};
      for (const char* resource : {"cpu", "memory"}) {
        row.push_back(used_text(node.measured, node.used, resource, node.allocatable));
        row.push_back(amount_text(node.requested, resource));
        row.push_back(amount_text(node.allocatable, resource));
      }
      nodes.add_row(std::move(row));
    }
    text = nodes.to_text() + "\n";
  }
  if (view.work.empty()) {
    return text + "no pods run\n";
  }
  Table work({"NAMESPACE", "NAME", "PODS", "CPU", "REQUESTED", "MEMORY", "REQUESTED"});
  for (const TopWork& each : view.work) {
    std::vector<std::string> row = {each.ns, each.kind == "pod" ? "pod/" + each.name : each.name,
                                    std::to_string(each.pods)};
    for (const char* resource : {"cpu", "memory"}) {
      row.push_back(used_text(each.measured, each.used, resource, each.requested));
      row.push_back(amount_text(each.requested, resource));
    }
    work.add_row(std::move(row));
  }
  return text + work.to_text();
}

std::string no_use_note(const TopView& view) {
  if (view.with_use) {
    return "";
  }
  const bool fake = !view.nodes.empty() && std::ranges::all_of(view.nodes, &TopNode::fake);
  return fake ? "note: only requests are shown: pods of fake nodes use nothing\n"
              : "note: only requests are shown: the cluster has no metrics API; "
                "metrics-server brings it\n";
}

json::Value top_value(const TopView& view, json::Arena& arena) {
  const auto text = [&](std::string_view from) { return json::Value::string(arena, from); };
  json::Value nodes = json::Value::array();
  for (const TopNode& node : view.nodes) {
    json::Value entry = json::Value::object();
    entry.set(arena, "name", text(node.name));
    entry.set(arena, "used", amounts(node.used, arena));
    entry.set(arena, "requested", amounts(node.requested, arena));
    entry.set(arena, "allocatable", amounts(node.allocatable, arena));
    nodes.push_back(arena, entry);
  }
  json::Value work = json::Value::array();
  for (const TopWork& each : view.work) {
    json::Value entry = json::Value::object();
    entry.set(arena, "kind", text(each.kind));
    entry.set(arena, "namespace", text(each.ns));
    entry.set(arena, "name", text(each.name));
    entry.set(arena, "pods", json::Value::integer(arena, static_cast<std::int64_t>(each.pods)));
    entry.set(arena, "used", amounts(each.used, arena));
    entry.set(arena, "requested", amounts(each.requested, arena));
    work.push_back(arena, entry);
  }
  json::Value whole = json::Value::object();
  whole.set(arena, "nodes", nodes);
  whole.set(arena, "work", work);
  return whole;
}

}  // namespace codeflare::cli
