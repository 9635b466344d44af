#include "app/flags/node_extras_flags.h"

#include "model/validation.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace codeflare {

namespace {

// The labels that every node has by itself.
constexpr std::array<std::string_view, 5> kOwnLabels = {
    "beta.kubernetes.io/arch", "beta.kubernetes.io/os", "kubernetes.io/arch",
    "kubernetes.io/hostname", "kubernetes.io/os"};

bool is_own_label(std::string_view key) {
  return key.starts_with("codeflare.dev/") ||
         std::ranges::find(kOwnLabels, key) != kOwnLabels.end();
}

// The resources that Kubernetes knows have no domain, or its own.
bool is_extended(std::string_view resource) {
  const std::string_view domain = resource.substr(0, resource.find('/'));
  return domain.size() < resource.size() && domain != "kubernetes.io" &&
         !domain.ends_with(".kubernetes.io") && !domain.starts_with("requests.");
}

Error wrong(const std::string& flag, const std::string& text, const std::string& why) {
  return invalid_argument(flag + " " + text + ": " + why);
}

Result<std::pair<std::string, std::string>> halves(const std::string& flag, const std::string& text,
                                                   const std::string& form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return fail(wrong(flag, text, "expected " + form));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<void> add_label(const std::string& text, model::StringMap& labels) {
  TRY_ASSIGN(const auto label, halves("--label", text, "KEY=VALUE"));
  const auto& [key, value] = label;
  model::Complaints complaints = model::check_qualified_name(key);
  if (complaints.empty()) {
    complaints = model::check_label_value(value);
  }
  if (!complaints.empty()) {
    return fail(wrong("--label", text, model::join(complaints)));
  }
  if (is_own_label(key)) {
    return fail(wrong("--label", text, "the node sets it"));
  }
  labels.insert_or_assign(key, value);
  return {};
}

Result<void> add_resource(const std::string& text, model::ResourceList& resources) {
  TRY_ASSIGN(const auto resource, halves("--resource", text, "NAME=AMOUNT"));
  const auto& [name, written] = resource;
  if (name == model::kGpuResource) {
    return fail(wrong("--resource", text, "use --gpus for GPUs"));
  }
  if (!is_extended(name)) {
    return fail(wrong("--resource", text, "expected a name such as example.com/fpga"));
  }
  if (const model::Complaints complaints = model::check_qualified_name(name); !complaints.empty()) {
    return fail(wrong("--resource", text, model::join(complaints)));
  }
  const Result<model::Quantity> amount = model::Quantity::parse(written);
  // As the API has it: nobody gets half a device.
  if (!amount || amount->sign() < 0 || !amount->exact_value()) {
    return fail(wrong("--resource", text, "expected a whole number"));
  }
  resources.set(name, *amount);
  return {};
}

}  // namespace

Result<model::NodeExtras> parse_node_extras(const NodeExtrasFlags& flags) {
  model::NodeExtras extras;
  for (const std::string& text : flags.labels) {
    TRY(add_label(text, extras.labels));
  }
  for (const std::string& text : flags.resources) {
    TRY(add_resource(text, extras.resources));
  }
  return extras;
}

}  // namespace codeflare
