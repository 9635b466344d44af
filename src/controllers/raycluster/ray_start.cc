#include "controllers/raycluster/ray_start.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::Quantity;
using model::StringMap;

// Accelerators that Ray knows under a name of its own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kAccelerators = {{
    {"aws.amazon.com/neuroncore", "neuron_cores"},
    {"google.com/tpu", "TPU"},
}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::string number(const Quantity& amount) {
  std::string text;
  if (const auto exact = amount.exact_value()) {
    return std::to_string(*exact);
  }
  json::Writer(text).number(static_cast<double>(amount.milli_value()) / 1000);
  return text;
}

// Custom resources as Ray wants them: '{"TPU":4}'.
using Custom = std::map<std::string, std::string, std::less<>>;

std::string custom_text(const Custom& custom) {
  std::string text = "'";
  json::Writer w(text);
  w.begin_object();
  for (const auto& [name, amount] : custom) {
    w.key(name).number_text(amount);
  }
  w.end_object();
  return text + "'";
}

// Nothing when the text is not such an object: then it is left as the user wrote it.
std::optional<Custom> parse_custom(std::string_view text) {
  constexpr std::string_view kQuotes = "'\"` ";
  const std::size_t first = text.find_first_not_of(kQuotes);
  if (first == std::string_view::npos) {
    return text.empty() ? std::optional(Custom()) : std::nullopt;
  }
  text = text.substr(first, text.find_last_not_of(kQuotes) - first + 1);
  const auto document = json::parse(text);
  if (!document || !document->root.is_object()) {
    return std::nullopt;
  }
  Custom custom;
  for (const json::Member& member : document->root.members()) {
    if (!member.value.is_number()) {
      return std::nullopt;
    }
    custom.emplace(member.key, member.value.number());
  }
  return custom;
}

// The group's own amounts go before anything else.
void apply_group_resources(const StringMap& resources, StringMap& params) {
  Custom custom;
  for (const auto& [name, text] : resources) {
    const Result<Quantity> amount = Quantity::parse(text);
    if (!amount) {
      continue;
    }
    const std::string plain = lower(name);
    if (plain == "cpu") {
      params["num-cpus"] = std::to_string(amount->value());
    } else if (plain == "memory") {
      params["memory"] = std::to_string(amount->value());
    } else if (is_gpu(plain)) {
      params["num-gpus"] = std::to_string(amount->value());
    } else {
      custom.emplace(name, number(*amount));
    }
  }
  if (!custom.empty()) {
    params["resources"] = custom_text(custom);
  }
}

void apply_labels(const StringMap& labels, StringMap& params) {
  std::string text;
  for (const auto& [key, value] : labels) {
    text += (text.empty() ? "" : ",") + key + "=" + value;
  }
  if (!text.empty()) {
    params["labels"] = text;
  }
}

void apply_accelerators(const model::ResourceList& limits, StringMap& params) {
  std::optional<Custom> custom =
      parse_custom(params.contains("resources") ? params["resources"] : std::string());
  if (!custom) {
    return;
  }
  bool done = std::ranges::any_of(
      kAccelerators, [&](const auto& entry) { return custom->contains(entry.second); });
  for (const auto& [name, amount] : limits) {
    if (amount.is_zero()) {
      continue;
    }
    if (is_gpu(name)) {
      params.try_emplace("num-gpus", std::to_string(amount.value()));
    }
    const auto* known = std::ranges::find(kAccelerators, std::string_view(name),
                                          [](const auto& entry) { return entry.first; });
    if (!done && known != kAccelerators.end()) {
      custom->emplace(known->second, number(amount));
      params["resources"] = custom_text(*custom);
      done = true;
    }
  }
}

void apply_container(const model::ResourceRequirements& container, StringMap& params) {
  for (const model::ResourceList* list : {&container.limits, &container.requests}) {
    if (const Quantity* cpu = list->find("cpu"); cpu != nullptr && !cpu->is_zero()) {
      params.try_emplace("num-cpus", std::to_string(cpu->value()));
    }
  }
  const Quantity* memory = container.limits.find("memory");
  if (memory != nullptr && !memory->is_zero()) {
    params.try_emplace("memory", std::to_string(memory->value()));
  }
  apply_accelerators(container.limits, params);
}

}  // namespace

bool is_gpu(std::string_view resource) {
  if (resource.ends_with("gpu")) {
    return true;
  }
  // nvidia.com/mig-2g.32gb
  constexpr std::string_view kSlice = "nvidia.com/mig-";
  if (!resource.starts_with(kSlice) || !resource.ends_with("gb")) {
    return false;
  }
  const std::string_view shape =
      resource.substr(kSlice.size(), resource.size() - kSlice.size() - 2);
  const std::size_t middle = shape.find("g.");
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  return middle != std::string_view::npos && digits(shape.substr(0, middle)) &&
         digits(shape.substr(middle + 2));
}

StringMap start_params(const StartInput& input) {
  StringMap params = input.params;
  apply_group_resources(input.resources, params);
  apply_labels(input.labels, params);
  if (input.type == NodeType::worker) {
    params.try_emplace("address", input.head_address);
  } else {
    params.try_emplace("dashboard-host", "0.0.0.0");
  }
  params.try_emplace("metrics-export-port", std::to_string(kMetricsPort));
  params.try_emplace("dashboard-agent-listen-port", std::to_string(kAgentPort));
  params["block"] = "true";
  apply_container(input.container, params);
  return params;
}

std::vector<std::string> shell() {
  return {"/bin/bash", "-c", "--"};
}

std::string start_command(NodeType type, const StringMap& params) {
  std::string command = type == NodeType::head ? "ray start --head " : "ray start ";
  for (const auto& [key, value] : params) {
    const std::string word = lower(value);
    const bool is_switch =
        (word == "true" || word == "false") && key != "log-color" && key != "include-dashboard";
    if (!is_switch) {
      command += " --" + key + "=" + value + " ";
    } else if (word == "true") {
      command += " --" + key + " ";
    }
  }
  return command;
}

}  // namespace codeflare::controllers::raycluster
