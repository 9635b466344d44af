#include "apiserver/kinds/printers/row.h"

#include <algorithm>

namespace codeflare::apiserver::printing {
namespace {

void print_webhooks(Row& row) {
  row.name().integer(static_cast<std::int64_t>(size_at(row.object, "webhooks"))).age();
}

void print_policy(Row& row) {
  std::string parameter(kUnset);
  if (!absent(row.spec, "paramKind")) {
    const json::Value& kind = object_at(row.spec, "paramKind");
    parameter = std::string(text_at(kind, "apiVersion")) + "/" + std::string(text_at(kind, "kind"));
  }
  row.name()
      .integer(static_cast<std::int64_t>(size_at(row.spec, "validations")))
      .text(parameter)
      .age();
}

// Upstream shows this one as its compiler's language would write it down.
std::string selector_dump(const json::Value& selector) {
  const json::Value& labels = object_at(selector, "matchLabels");
  std::vector<std::string_view> keys;
  for (const json::Member& label : labels.members()) {
    keys.push_back(label.key);
  }
  std::ranges::sort(keys);
  std::string out = "&LabelSelector{MatchLabels:map[string]string{";
  for (std::string_view key : keys) {
    out += std::string(key) + ": " + std::string(text_at(labels, key)) + ",";
  }
  out += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const json::Value& expression : items_at(selector, "matchExpressions")) {
    out += "LabelSelectorRequirement{Key:" + std::string(text_at(expression, "key")) +
           ",Operator:" + std::string(text_at(expression, "operator")) + ",Values:[" +
           join(texts_at(expression, "values"), " ") + "],},";
  }
  return out + "},}";
}

std::string parameter_reference(const json::Value& spec) {
  const json::Value& reference = object_at(spec, "paramRef");
  if (std::string_view name = text_at(reference, "name"); !name.empty()) {
    std::string_view ns = text_at(reference, "namespace");
    return std::string(ns.empty() ? "*" : ns) + "/" + std::string(name);
  }
  return absent(reference, "selector") ? std::string(kUnset)
                                       : selector_dump(object_at(reference, "selector"));
}

void print_policy_binding(Row& row) {
  row.name().text(text_at(row.spec, "policyName")).text(parameter_reference(row.spec)).age();
}

// "allocated,reserved"
std::string claim_state(const Row& row) {
  std::vector<std::string> states;
  if (row.deleting()) {
    states.emplace_back("deleted");
  }
  if (!absent(row.status, "allocation")) {
    states.emplace_back("allocated");
    if (size_at(row.status, "reservedFor") > 0) {
      states.emplace_back("reserved");
    }
  } else if (!row.deleting()) {
    states.emplace_back("pending");
  }
  return join(states);
}

void print_resource_claim(Row& row) {
  row.name().text(claim_state(row)).age();
}

void print_resource_slice(Row& row) {
  row.name()
      .text(text_at(row.spec, "nodeName"))
      .text(text_at(row.spec, "driver"))
      .text(text_at(object_at(row.spec, "pool"), "name"))
      .age();
}

std::vector<Column> webhook_columns() {
  return {name_column(), integer_column("Webhooks"), age_column()};
}

}  // namespace

std::vector<KindPrinter> admission_printers() {
  constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
  return {
      {.group = kAdmission,
       .plural = "mutatingwebhookconfigurations",
       .columns = webhook_columns(),
       .print = print_webhooks},
      {.group = kAdmission,
       .plural = "validatingwebhookconfigurations",
       .columns = webhook_columns(),
       .print = print_webhooks},
      {.group = kAdmission,
       .plural = "validatingadmissionpolicies",
       .columns = {name_column(), integer_column("Validations"), text_column("ParamKind"),
                   age_column()},
       .print = print_policy},
      {.group = kAdmission,
       .plural = "validatingadmissionpolicybindings",
       .columns = {name_column(), text_column("PolicyName"), text_column("ParamRef"), age_column()},
       .print = print_policy_binding},
      {.group = "resource.k8s.io",
       .plural = "resourceclaims",
       .columns = {name_column(), text_column("State"), age_column()},
       .print = print_resource_claim},
      {.group = "resource.k8s.io",
       .plural = "resourceslices",
       .columns = {name_column(), text_column("Node"), text_column("Driver"), text_column("Pool"),
                   age_column()},
       .print = print_resource_slice},
  };
}

}  // namespace codeflare::apiserver::printing
