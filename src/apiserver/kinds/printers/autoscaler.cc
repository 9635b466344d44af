#include "apiserver/kinds/printers/row.h"
#include "apiserver/registry/builtin_data.h"

namespace codeflare::apiserver::printing {
namespace {

constexpr std::size_t kMetricsShownMax = 2;
constexpr std::int64_t kDefaultUtilization = 80;  // of cpu, when no metric is asked for

bool has(const json::Value& parent, std::string_view key) {
  return !absent(parent, key);
}

std::string amount(const json::Value& parent, std::string_view key) {
  return has(parent, key) ? quantity_at(parent, key) : "<nil>";
}

std::string percent(std::int64_t value) {
  return std::to_string(value) + "%";
}

// "0/5": of an object in the cluster or a metric from outside; the average goes before the sum.
std::string total_metric(const json::Value& target, const json::Value& current, bool known) {
  if (has(target, "averageValue")) {
    return (known && has(current, "averageValue") ? amount(current, "averageValue")
                                                  : std::string(kUnknown)) +
           "/" + amount(target, "averageValue") + " (avg)";
  }
  return (known ? amount(current, "value") : std::string(kUnknown)) + "/" + amount(target, "value");
}

// "cpu: 12%/80%"
std::string resource_metric(const json::Value& source, const json::Value& current, bool known) {
  const json::Value& target = object_at(source, "target");
  std::string now(kUnknown);
  std::string wanted = "<auto>";
  if (has(target, "averageValue")) {
    wanted = amount(target, "averageValue");
    if (known) {
      now = amount(current, "averageValue");
    }
  } else {
    if (std::optional<std::int64_t> value = integer_at(target, "averageUtilization")) {
      wanted = percent(*value);
    }
    if (std::optional<std::int64_t> value = integer_at(current, "averageUtilization")) {
      now = percent(*value);
    }
  }
  return std::string(text_at(source, "name")) + ": " + now + "/" + wanted;
}

// One metric of the spec beside what was last measured, the status entry at the same place.
std::string metric(const json::Value& spec, const json::Value& status) {
  std::string_view type = text_at(spec, "type");
  std::string_view field = type == "External"            ? "external"
                           : type == "Pods"              ? "pods"
                           : type == "Object"            ? "object"
                           : type == "Resource"          ? "resource"
                           : type == "ContainerResource" ? "containerResource"
                                                         : "";
  if (field.empty()) {
    return "<unknown type>";
  }
  const json::Value& source = object_at(spec, field);
  const json::Value& current = object_at(status, {field, "current"});
  const bool known = has(status, field);
  if (field == "pods") {
    return (known ? amount(current, "averageValue") : std::string(kUnknown)) + "/" +
           amount(object_at(source, "target"), "averageValue");
  }
  return field == "external" || field == "object"
             ? total_metric(object_at(source, "target"), current, known)
             : resource_metric(source, current, known);
}

std::string metrics(const json::Value& spec, const json::Value& status) {
  std::span<const json::Value> wanted = items_at(spec, "metrics");
  std::span<const json::Value> measured = items_at(status, "currentMetrics");
  const json::Value nothing = json::Value::object();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    out.push_back(metric(wanted[i], i < measured.size() ? measured[i] : nothing));
  }
  if (out.empty()) {
    const json::Value& first = measured.empty() ? nothing : measured.front();
    std::optional<std::int64_t> now =
        integer_at(object_at(first, {"resource", "current"}), "averageUtilization");
    out.push_back("cpu: " + (now ? percent(*now) : std::string(kUnknown)) + "/" +
                  percent(kDefaultUtilization));
  }
  if (out.size() <= kMetricsShownMax) {
    return join(out, ", ");
  }
  const std::size_t more = out.size() - kMetricsShownMax;
  out.resize(kMetricsShownMax);
  return join(out, ", ") + " + " + std::to_string(more) + " more...";
}

void print_autoscaler(Row& row) {
  const json::Value& target = object_at(row.spec, "scaleTargetRef");
  row.name()
      .text(std::string(text_at(target, "kind")) + "/" + std::string(text_at(target, "name")))
      .text(metrics(row.spec, row.status))
      .text(std::to_string(integer_at(row.spec, "minReplicas").value_or(1)))
      .integer(count_at(row.spec, "maxReplicas"))
      .integer(count_at(row.status, "currentReplicas"))
      .age();
}

// In v1 all metrics but one are hidden in annotations: it is printed as the v2 object it stands
// for.
void print_autoscaler_v1(Row& row) {
  json::Value object = row.object.clone(row.arena);
  if (!builtin::convert_autoscaler(row.arena, object, "autoscaling/v1", "autoscaling/v2")) {
    object = row.object;
  }
  Row current(object, row.now, row.arena, row.cells());
  print_autoscaler(current);
}

std::vector<Column> autoscaler_columns() {
  return {name_column(),
          text_column("Reference"),
          text_column("Targets"),
          text_column("MinPods"),
          text_column("MaxPods"),
          text_column("Replicas"),
          age_column()};
}

}  // namespace

std::vector<KindPrinter> autoscaler_printers() {
  return {
      {.group = "autoscaling",
       .plural = "horizontalpodautoscalers",
       .columns = autoscaler_columns(),
       .print = print_autoscaler_v1,
       .version = "v1"},
      {.group = "autoscaling",
       .plural = "horizontalpodautoscalers",
       .columns = autoscaler_columns(),
       .print = print_autoscaler},
  };
}

}  // namespace codeflare::apiserver::printing
