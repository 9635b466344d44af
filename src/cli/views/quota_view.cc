#include "cli/views/quota_view.h"

#include "cli/views/table.h"
#include "model/resource_text.h"

#include <cstdint>
#include <utility>

namespace codeflare::cli {

namespace {

using model::Quantity;

// "2 CPUs", "7.7GiB", "8 GPUs". Where the column RESOURCE has the noun: the number alone.
std::string with_unit(const std::string& resource, const Quantity& amount) {
  const std::string number = model::human_amount(resource, amount);
  const auto counted = [&](const std::string& noun) {
    return number + " " + noun + (number == "1" ? "" : "s");
  };
  if (resource == "cpu") {
    return counted("CPU");
  }
  if (resource == "memory" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-")) {
    return number + "B";
  }
  return resource.ends_with("/gpu") ? counted("GPU") : number;
}

std::string or_dash(const std::string& resource, const Quantity& amount) {
  return amount.is_zero() ? "-" : with_unit(resource, amount);
}

std::string problems_of(const QuotaView& view) {
  std::string text;
  for (const QuotaNodeView& node : view.nodes) {
    if (!node.problem.empty()) {
      text += "node " + node.name + " of tree " + node.tree + ": " + node.problem + "\n";
    }
  }
  for (const QuotaStray& stray : view.strays) {
    text += stray.text + "\n";
  }
  return text;
}

}  // namespace

std::string render_quota(const QuotaView& view, bool wide) {
  std::vector<std::string> header = {"TREE", "NODE",     "RESOURCE", "LIMIT",
                                     "USED", "BORROWED", "LENT",     "WAITING"};
  if (wide) {
    for (const char* more : {"WORK", "HARD", "NAMESPACE"}) {
      header.emplace_back(more);
    }
  }
  Table table(std::move(header));
  for (const QuotaNodeView& node : view.nodes) {
    std::vector<QuotaLine> lines = node.lines;
    if (lines.empty()) {
      lines.push_back({.resource = "-"});
    }
    for (const QuotaLine& line : lines) {
      std::vector<std::string> row = {node.tree,
                                      std::string(2 * node.depth, ' ') + node.name,
                                      line.resource,
                                      line.limit ? with_unit(line.resource, *line.limit) : "-",
                                      node.reported ? with_unit(line.resource, line.used) : "-",
                                      or_dash(line.resource, line.borrowed),
                                      or_dash(line.resource, line.lent),
                                      or_dash(line.resource, line.waiting)};
      if (wide) {
        row.push_back(node.waiting == 0 ? "-" : std::to_string(node.waiting));
        row.emplace_back(node.hard ? "yes" : "-");
        row.push_back(node.ns.empty() ? "-" : node.ns);
      }
      table.add_row(std::move(row));
    }
  }
  return table.to_text() + problems_of(view);
}

json::Value quota_value(const QuotaView& view, json::Arena& arena) {
  const auto text = [&](std::string_view from) { return json::Value::string(arena, from); };
  json::Value nodes = json::Value::array();
  for (const QuotaNodeView& node : view.nodes) {
    json::Value lines = json::Value::array();
    for (const QuotaLine& line : node.lines) {
      json::Value entry = json::Value::object();
      entry.set(arena, "resource", text(line.resource));
      if (line.limit) {
        entry.set(arena, "limit", text(line.limit->to_string()));
      }
      const std::pair<std::string_view, const Quantity*> amounts[] = {{"used", &line.used},
                                                                      {"borrowed", &line.borrowed},
                                                                      {"lent", &line.lent},
                                                                      {"waiting", &line.waiting}};
      for (const auto& [key, amount] : amounts) {
        entry.set(arena, key, text(amount->to_string()));
      }
      lines.push_back(arena, entry);
    }
    json::Value entry = json::Value::object();
    for (const auto& [key, value] :
         {std::pair<std::string_view, const std::string*>{"tree", &node.tree},
          {"name", &node.name},
          {"parent", &node.parent},
          {"namespace", &node.ns},
          {"problem", &node.problem}}) {
      if (!value->empty()) {
        entry.set(arena, key, text(*value));
      }
    }
    entry.set(arena, "hardLimit", json::Value::boolean(node.hard));
    entry.set(arena, "waitingWork",
              json::Value::integer(arena, static_cast<std::int64_t>(node.waiting)));
    entry.set(arena, "resources", lines);
    nodes.push_back(arena, entry);
  }
  json::Value strays = json::Value::array();
  for (const QuotaStray& stray : view.strays) {
    strays.push_back(arena, text(stray.text));
  }
  json::Value whole = json::Value::object();
  whole.set(arena, "nodes", nodes);
  whole.set(arena, "withoutNode", strays);
  return whole;
}

}  // namespace codeflare::cli
