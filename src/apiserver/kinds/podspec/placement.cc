#include "apiserver/kinds/podspec/checks.h"

#include <map>
#include <string_view>
#include <utility>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void check_node_field(const Field& expression) {
  const std::string_view op = expression.text("operator");
  if (op != "In" && op != "NotIn") {
    expression.invalid_text("operator", op, "not a valid selector operator");
  } else if (expression.count("values") != 1) {
    expression.required("values",
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                        "selector");
  }
  if (expression.text("key") != "metadata.name") {
    expression.invalid_text("key", expression.text("key"), "not a valid field selector key");
    return;
  }
  const Field values = expression["values"];
  values.each([](const Field& value) {
    value.add(model::check_dns1123_subdomain(value.text()), "", value.text());
  });
}

// Preferred terms may name labels that no node can have.
void check_node_term(const Field& term, bool values_too) {
  const Field expressions = term["matchExpressions"];
  expressions.each([&](const Field& expression) {
    check_expression(expression, {.compares = true, .values_too = values_too});
  });
  const Field fields = term["matchFields"];
  fields.each(check_node_field);
}

void check_weight(const Field& term) {
  const std::int64_t weight = term.integer("weight").value_or(0);
  if (weight < 1 || weight > 100) {
    term.invalid("weight", std::to_string(weight), "must be in the range 1-100");
  }
}

void check_node_affinity(const Field& affinity) {
  const Field required = affinity[kRequired];
  const Field terms = required["nodeSelectorTerms"];
  if (required.given() && terms.value().size() == 0) {
    terms.required("", "must have at least one node selector term");
  }
  terms.each([](const Field& term) { check_node_term(term, true); });
  const Field preferred = affinity[kPreferred];
  preferred.each([](const Field& term) {
    check_weight(term);
    check_node_term(term["preference"], false);
  });
}

// The last position of each key.
std::map<std::string_view, std::size_t> positions_of(const Field& keys) {
  std::map<std::string_view, std::size_t> positions;
  keys.each([&](const Field& key) { positions.insert_or_assign(key.text(), key.index()); });
  return positions;
}

// Labels of the pod itself that narrow the selector: by now they are among its expressions, so one
// that is there twice was there before.
void check_label_keys(const Field& term) {
  const Field selector = term["labelSelector"];
  const Field match = term["matchLabelKeys"];
  const Field mismatch = term["mismatchLabelKeys"];
  for (const Field* keys : {&match, &mismatch}) {
    if (keys->value().size() > 0 && !selector.given()) {
      keys->forbidden("", "must not be specified when labelSelector is not set");
      continue;
    }
    keys->each([](const Field& key) { check_label_name(key, "", key.text()); });
  }
  const auto matched = positions_of(match);
  const auto mismatched = positions_of(mismatch);
  Names selected;
  const Field labels = selector["matchLabels"];
  for (const json::Member& label : labels.value().members()) {
    selected.emplace(label.key);
  }
  const Field expressions = selector["matchExpressions"];
  expressions.each([&](const Field& expression) {
    const std::string_view key = expression.text("key");
    const auto at = matched.find(key);
    if (!selected.emplace(key).second && at != matched.end()) {
      // Upstream points at an item of the term, which is none.
      term.errors().invalid_text(term.path() + "[" + std::to_string(at->second) + "]", key,
                                 "exists in both matchLabelKeys and labelSelector");
    }
  });
  match.each([&](const Field& key) {
    if (mismatched.contains(key.text())) {
      key.invalid_text("", key.text(), "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  });
}

void check_pod_term(const Field& term) {
  check_selector(term["labelSelector"]);
  check_selector(term["namespaceSelector"]);
  const Field namespaces = term["namespaces"];
  namespaces.each([&](const Field& name) {
    term.add(model::check_dns1123_label(name.text()), "namespace", name.text());
  });
  check_label_keys(term);
  if (term.text("topologyKey").empty()) {
    term.required("topologyKey", "can not be empty");
  }
  check_label_name(term, "topologyKey", term.text("topologyKey"));
}

void check_pod_affinity(const Field& affinity) {
  const Field required = affinity[kRequired];
  required.each(check_pod_term);
  const Field preferred = affinity[kPreferred];
  preferred.each([](const Field& term) {
    check_weight(term);
    check_pod_term(term["podAffinityTerm"]);
  });
}

}  // namespace

void check_affinity(const Field& affinity) {
  check_node_affinity(affinity["nodeAffinity"]);
  check_pod_affinity(affinity["podAffinity"]);
  check_pod_affinity(affinity["podAntiAffinity"]);
}

void check_spread(const Field& constraints) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> last;
  constraints.each([&](const Field& constraint) {
    last.insert_or_assign({constraint.text("topologyKey"), constraint.text("whenUnsatisfiable")},
                          constraint.index());
  });
  constraints.each([&](const Field& constraint) {
    const std::string_view key = constraint.text("topologyKey");
    const std::string_view action = constraint.text("whenUnsatisfiable");
    if (constraint.integer("maxSkew").value_or(0) <= 0) {
      constraint.invalid("maxSkew", std::to_string(constraint.integer("maxSkew").value_or(0)),
                         "must be greater than zero");
    }
    if (key.empty()) {
      constraint.required("topologyKey", "can not be empty");
    }
    if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
      constraint.not_supported("whenUnsatisfiable", action, {"DoNotSchedule", "ScheduleAnyway"});
    }
    // Complaints are about the earlier of two.
    if (last.at({key, action}) != constraint.index()) {
      constraint.duplicate("{topologyKey, whenUnsatisfiable}",
                           "{" + std::string(key) + ", " + std::string(action) + "}");
    }
    check_positive(constraint, "minDomains");
    if (constraint.has("minDomains") && action != "DoNotSchedule") {
      constraint.invalid(
          "minDomains",
          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + std::string(action));
    }
    check_one_of(constraint, "nodeAffinityPolicy", {"Honor", "Ignore"});
    check_one_of(constraint, "nodeTaintsPolicy", {"Honor", "Ignore"});
    check_label_keys(constraint);
    check_selector(constraint["labelSelector"]);
  });
}

void check_tolerations(const Field& tolerations) {
  tolerations.each([](const Field& toleration) {
    const std::string_view op = toleration.text("operator");
    const std::string_view value = toleration.text("value");
    check_name(toleration, "key", model::check_qualified_name);
    if (toleration.text("key").empty() && op != "Exists") {
      toleration.invalid_text("operator", op,
                              "operator must be Exists when `key` is empty, which means \"match "
                              "all values and all keys\"");
    }
    if (toleration.has("tolerationSeconds") && toleration.text("effect") != "NoExecute") {
      toleration.invalid_text("effect", toleration.text("effect"),
                              "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (op.empty() || op == "Equal") {
      if (const model::Complaints complaints = model::check_label_value(value);
          !complaints.empty()) {
        toleration.invalid_text("operator", value, model::join(complaints, ";"));
      }
    } else if (op != "Exists") {
      toleration.not_supported("operator", op, {"Equal", "Exists"});
    } else if (!value.empty()) {
      toleration.invalid_text("operator", value, "value must be empty when `operator` is 'Exists'");
    }
    if (!toleration.text("effect").empty()) {
      check_one_of(toleration, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
  });
}

void check_scheduling_gates(const Field& gates) {
  Names names;
  gates.each([&](const Field& gate) {
    const std::string_view name = gate.text("name");
    check_label_name(gate, "", name);
    if (!names.emplace(name).second) {
      gate.duplicate("", name);
    }
  });
}

}  // namespace codeflare::apiserver::podspec
