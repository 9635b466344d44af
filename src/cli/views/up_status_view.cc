#include "cli/views/up_status_view.h"

#include "base/check.h"
#include "base/human_duration.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kValueColumn = 12;

std::string lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string pods_text(const ClusterCounts& counts) {
  std::string text;
  for (const auto& [phase, count] : counts.pods) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + lower(phase);
  }
  return text.empty() ? "none" : text;
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string node_table(const ClusterCounts& counts) {
  Table table({"NAME", "READY", "CPUS", "MEMORY", "GPUS", "PODS"});
  for (const ClusterCounts::Node& node : counts.nodes) {
    table.add_row({node.name, node.ready ? "yes" : "no", node.cpus, node.memory, node.gpus,
                   std::to_string(node.pods)});
  }
  return indented(table.to_text());
}

std::string line(std::string name, const std::string& value) {
  name += ':';
  name.resize(std::max(name.size() + 1, kValueColumn), ' ');
  return name + value + "\n";
}

std::string pretty(const std::string& compact) {
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root, kIndent) + "\n";
}

}  // namespace

std::string render_up_status(const up::UpState& state, const std::string& directory,
                             const ClusterCounts& counts, WallTime now) {
  const auto ready = std::ranges::count(counts.nodes, true, &ClusterCounts::Node::ready);
  std::string text = "codeflare " + state.version + " runs in " + directory + "\n";
  text += line("since", to_rfc3339(state.since) + " (" + human_duration(now - state.since) +
                            "), process " + std::to_string(state.process.pid));
  text += line("server", state.server) + line("kubeconfig", state.kubeconfig);
  if (!state.context.name.empty()) {
    text += line("context", state.context.name + " in " + state.context.file);
  }
  if (!state.log.empty()) {
    text += line("log", state.log);
  }
  text += line("nodes",
               std::to_string(ready) + " of " + std::to_string(counts.nodes.size()) + " ready");
  if (!counts.nodes.empty()) {
    text += node_table(counts);
  }
  text += line("pods", pods_text(counts));
  return text + line("queue", std::to_string(counts.waiting) + " waiting, " +
                                  std::to_string(counts.running) + " running" +
                                  (counts.paused ? ", paused" : ""));
}

std::string up_status_json(const up::UpState& state, const std::string& directory,
                           const ClusterCounts& counts) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("running").boolean(true).member("directory", directory);
  w.key("pid").integer(state.process.pid).member("since", to_rfc3339(state.since));
  w.member("version", state.version).member("server", state.server);
  w.member("kubeconfig", state.kubeconfig).member_if_set("context", state.context.name);
  w.member_if_set("log", state.log).key("nodes").begin_array();
  for (const ClusterCounts::Node& node : counts.nodes) {
    w.begin_object().member("name", node.name).key("ready").boolean(node.ready);
    w.member("cpus", node.cpus).member("memory", node.memory).member("gpus", node.gpus);
    w.key("pods").integer(static_cast<std::int64_t>(node.pods)).end_object();
  }
  w.end_array().key("pods").begin_object();
  for (const auto& [phase, count] : counts.pods) {
    w.key(phase).integer(static_cast<std::int64_t>(count));
  }
  w.end_object().key("queue").begin_object();
  w.key("waiting").integer(static_cast<std::int64_t>(counts.waiting));
  w.key("running").integer(static_cast<std::int64_t>(counts.running));
  w.key("paused").boolean(counts.paused).end_object().end_object();
  return pretty(text);
}

}  // namespace codeflare::cli
