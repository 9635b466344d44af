#include "apiserver/registry/builtin_data.h"
#include "json/parse.h"
#include "json/write.h"

#include <string>

namespace codeflare::apiserver::builtin {
namespace {

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";

json::Value& child(json::Arena& arena, json::Value& object, std::string_view key) {
  json::Value* found = object.find(key);
  if (found == nullptr || !found->is_object()) {
    return object.set_static(arena, key, json::Value::object());
  }
  return *found;
}

// The one metric that v1 has a field for.
bool is_cpu_utilization(const json::Value& metric, std::string_view values) {
  const json::Value* resource = metric.find("resource");
  if (metric.string_or_empty("type") != "Resource" || resource == nullptr ||
      resource->string_or_empty("name") != "cpu") {
    return false;
  }
  const json::Value* amount = resource->get({values, "averageUtilization"});
  return amount != nullptr && amount->is_number();
}

// Takes member `from` out of `holder`: the cpu metric goes to `cpu_field`, the rest to the
// annotation.
void split_metrics(json::Arena& arena, json::Value& object, json::Value& holder,
                   std::string_view from, std::string_view values, std::string_view cpu_field,
                   std::string_view annotation) {
  const json::Value* metrics = holder.find(from);
  if (metrics == nullptr || !metrics->is_array()) {
    return;
  }
  json::Value others = json::Value::array();
  json::Value cpu;
  for (const json::Value& metric : metrics->items()) {
    if (cpu.is_null() && is_cpu_utilization(metric, values)) {
      cpu = *metric.get({"resource", values, "averageUtilization"});
    } else {
      others.push_back(arena, metric);
    }
  }
  holder.erase(from);
  if (!cpu.is_null()) {
    holder.set_static(arena, cpu_field, cpu);
  }
  if (others.size() > 0) {
    json::Value& annotations = child(arena, child(arena, object, "metadata"), "annotations");
    annotations.set_static(arena, annotation, json::Value::string(arena, json::to_text(others)));
  }
}

void hide(json::Arena& arena, json::Value& object, json::Value& holder, std::string_view member,
          std::string_view annotation) {
  if (const json::Value* value = holder.find(member)) {
    std::string text = json::to_text(*value);
    holder.erase(member);
    json::Value& annotations = child(arena, child(arena, object, "metadata"), "annotations");
    annotations.set_static(arena, annotation, json::Value::string(arena, text));
  }
}

// The content of an annotation, taken out of it; null when it is absent or broken.
json::Value reveal(json::Arena& arena, json::Value& object, std::string_view annotation) {
  json::Value* metadata = object.find("metadata");
  json::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  const json::Value* text = annotations == nullptr ? nullptr : annotations->find(annotation);
  if (text == nullptr || !text->is_string()) {
    return {};
  }
  Result<json::Document> parsed = json::parse(text->as_string());
  json::Value value = parsed ? parsed->root.clone(arena) : json::Value();
  annotations->erase(annotation);
  if (annotations->size() == 0) {
    metadata->erase("annotations");
  }
  return value;
}

void join_metrics(json::Arena& arena, json::Value& object, std::string_view holder_name,
                  std::string_view to, std::string_view values, std::string_view cpu_field,
                  std::string_view annotation) {
  json::Value metrics = reveal(arena, object, annotation);
  json::Value* holder = object.find(holder_name);
  if (holder == nullptr || !holder->is_object()) {
    return;
  }
  if (!metrics.is_array()) {
    metrics = json::Value::array();
  }
  if (const json::Value* cpu = holder->find(cpu_field)) {
    json::Value amount = json::Value::object();
    if (values == "target") {
      amount.set_static(arena, "type", json::Value::string_view_of("Utilization"));
    }
    amount.set_static(arena, "averageUtilization", *cpu);
    json::Value resource = json::Value::object();
    resource.set_static(arena, "name", json::Value::string_view_of("cpu"));
    resource.set_static(arena, values, amount);
    json::Value metric = json::Value::object();
    metric.set_static(arena, "type", json::Value::string_view_of("Resource"));
    metric.set_static(arena, "resource", resource);
    metrics.insert(arena, 0, metric);
    holder->erase(cpu_field);
  }
  if (metrics.size() > 0) {
    holder->set_static(arena, to, metrics);
  }
}

}  // namespace

Result<void> convert_autoscaler(json::Arena& arena, json::Value& object, std::string_view /*from*/,
                                std::string_view to) {
  if (to == "autoscaling/v1") {
    // Made first: a member that is added later would move the others.
    child(arena, child(arena, object, "metadata"), "annotations");
    if (object.find("spec") != nullptr) {
      json::Value& spec = child(arena, object, "spec");
      split_metrics(arena, object, spec, "metrics", "target", "targetCPUUtilizationPercentage",
                    kMetrics);
      hide(arena, object, spec, "behavior", kBehavior);
    }
    if (object.find("status") != nullptr) {
      json::Value& status = child(arena, object, "status");
      split_metrics(arena, object, status, "currentMetrics", "current",
                    "currentCPUUtilizationPercentage", kCurrentMetrics);
      hide(arena, object, status, "conditions", kConditions);
    }
    json::Value* metadata = object.find("metadata");
    if (metadata != nullptr && metadata->find("annotations") != nullptr &&
        metadata->find("annotations")->size() == 0) {
      metadata->erase("annotations");
    }
    return {};
  }
  join_metrics(arena, object, "spec", "metrics", "target", "targetCPUUtilizationPercentage",
               kMetrics);
  join_metrics(arena, object, "status", "currentMetrics", "current",
               "currentCPUUtilizationPercentage", kCurrentMetrics);
  json::Value behavior = reveal(arena, object, kBehavior);
  if (json::Value* spec = object.find("spec"); spec != nullptr && behavior.is_object()) {
    spec->set_static(arena, "behavior", behavior);
  }
  json::Value conditions = reveal(arena, object, kConditions);
  if (json::Value* status = object.find("status"); status != nullptr && conditions.is_array()) {
    status->set_static(arena, "conditions", conditions);
  }
  return {};
}

}  // namespace codeflare::apiserver::builtin
