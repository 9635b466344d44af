#include "apiserver/kinds/pod_label_keys.h"

#include "apiserver/registry/edit.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

struct Narrowing {
  std::string_view keys;
  std::string_view op;
};

void narrow(json::Arena& arena, json::Value& selector, std::string_view key, std::string_view op,
            const json::Value& value) {
  json::Value values = json::Value::array();
  values.push_back(arena, value);
  json::Value expression = json::Value::object();
  expression.set_static(arena, "key", json::Value::string(arena, key));
  expression.set_static(arena, "operator", json::Value::string_view_of(op));
  expression.set_static(arena, "values", values);
  if (absent(selector, "matchExpressions")) {
    selector.set_static(arena, "matchExpressions", json::Value::array());
  }
  selector.find("matchExpressions")->push_back(arena, expression);
}

// `labels` are the pod's. A term without a selector selects nothing, so there is nothing to narrow.
void merge(json::Arena& arena, json::Value& term, const json::Value& labels) {
  json::Value* selector = term.find("labelSelector");
  if (selector == nullptr || !selector->is_object()) {
    return;
  }
  for (const Narrowing& way :
       {Narrowing{"matchLabelKeys", "In"}, Narrowing{"mismatchLabelKeys", "NotIn"}}) {
    for (const json::Value& key : items_at(std::as_const(term), way.keys)) {
      const json::Value* value = key.is_string() ? labels.find(key.as_string()) : nullptr;
      if (value != nullptr) {
        narrow(arena, *selector, key.as_string(), way.op, *value);
      }
    }
  }
}

}  // namespace

void merge_label_keys(json::Arena& arena, json::Value& pod) {
  const json::Value labels = object_at(object_at(std::as_const(pod), "metadata"), "labels");
  json::Value* spec = pod.find("spec");
  if (spec == nullptr) {
    return;
  }
  if (json::Value* affinity = spec->find("affinity"); affinity != nullptr) {
    for (std::string_view side : {"podAffinity", "podAntiAffinity"}) {
      json::Value* terms = affinity->find(side);
      if (terms == nullptr) {
        continue;
      }
      for (json::Value& term :
           items_at(*terms, "preferredDuringSchedulingIgnoredDuringExecution")) {
        if (json::Value* weighted = term.find("podAffinityTerm"); weighted != nullptr) {
          merge(arena, *weighted, labels);
        }
      }
      for (json::Value& term : items_at(*terms, "requiredDuringSchedulingIgnoredDuringExecution")) {
        merge(arena, term, labels);
      }
    }
  }
  for (json::Value& constraint : items_at(*spec, "topologySpreadConstraints")) {
    merge(arena, constraint, labels);
  }
}

}  // namespace codeflare::apiserver
