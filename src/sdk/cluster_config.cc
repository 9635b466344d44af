#include "sdk/cluster_config.h"

#include "json/parse.h"
#include "model/quantity.h"
#include "model/validation.h"
#include "sdk/device_names.h"
#include "sdk/exposure.h"
#include "sdk/internal/pod_shape.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

namespace codeflare::sdk {

namespace {

// KubeRay appends "-serve-svc" to make the name of a Service.
constexpr std::size_t kNameMax = 53;
constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

class Checker {
 public:
  explicit Checker(const ClusterConfig& config) : config_(config) {}

  std::vector<Fault> run();

 private:
  void add(std::string field, std::string value, std::string problem, std::string fix) {
    faults_.push_back({std::move(field), std::move(value), std::move(problem), std::move(fix)});
  }
  void check_names();
  void check_count(const std::string& field, std::int64_t count);
  struct Pair {
    std::string field;  // "head_cpu": "_requests" and "_limits" follow
    const std::string& requests;
    const std::string& limits;
  };
  void check_amounts(const Pair& pair);
  void check_sizes();
  void check_devices(const std::string& field, const model::StringMap& devices);
  void check_labels(const std::string& field, const model::StringMap& labels);
  void check_groups();
  void check_group(const WorkerGroup& group, const std::string& where);
  void check_queueing();
  void check_autoscaling();
  void check_exposure();
  void check_token();
  void check_fault_tolerance();
  void check_json(const std::string& field, const model::RawJson& raw);

  const ClusterConfig& config_;
  std::vector<Fault> faults_;
};

void Checker::check_names() {
  if (config_.name.empty()) {
    add("name", "", "is missing", "give the cluster a name");
  } else if (config_.name.size() > kNameMax) {
    add("name", config_.name, "has " + std::to_string(config_.name.size()) + " characters",
        "use at most " + std::to_string(kNameMax));
  } else if (!model::check_dns1035_label(config_.name).empty()) {
    add("name", config_.name, "is not a valid name",
        "use lower-case letters, digits and '-', beginning with a letter");
  }
  if (!config_.ns.empty() && !model::check_dns1123_label(config_.ns).empty()) {
    add("namespace", config_.ns, "is not a valid name", "use lower-case letters, digits and '-'");
  }
  if (config_.image.empty() && config_.ray_version.empty()) {
    add("ray_version", "", "is missing", "give the version of Ray, or an image");
  }
}

void Checker::check_count(const std::string& field, std::int64_t count) {
  if (count < 0) {
    add(field, std::to_string(count), "is negative", "give 0 or more");
  } else if (count > kCountMax) {
    add(field, std::to_string(count), "is too large", "give fewer");
  }
}

void Checker::check_amounts(const Pair& pair) {
  const Result<model::Quantity> requests = model::Quantity::parse(pair.requests);
  const Result<model::Quantity> limits = model::Quantity::parse(pair.limits);
  for (const auto& [text, parsed, end] : {std::tuple(&pair.requests, &requests, "_requests"),
                                          std::tuple(&pair.limits, &limits, "_limits")}) {
    if (!*parsed || (*parsed)->sign() < 0) {
      add(pair.field + end, *text, "is not a quantity", "give an amount such as 2 or 8G");
    }
  }
  if (requests && limits && *requests > *limits) {
    add(pair.field + "_requests", pair.requests,
        "is more than " + pair.field + "_limits (" + pair.limits + ")", "raise the limit");
  }
}

void Checker::check_sizes() {
  check_count("num_workers", config_.num_workers);
  check_amounts({"worker_cpu", config_.worker_cpu_requests, config_.worker_cpu_limits});
  check_amounts({"worker_memory", config_.worker_memory_requests, config_.worker_memory_limits});
  check_devices("worker_extended_resource_requests", config_.worker_extended_resource_requests);
  check_amounts({"head_cpu", config_.head_cpu_requests, config_.head_cpu_limits});
  check_amounts({"head_memory", config_.head_memory_requests, config_.head_memory_limits});
  check_devices("head_extended_resource_requests", config_.head_extended_resource_requests);
  for (const auto& [device, ray_name] : config_.extended_resource_mapping) {
    const std::string_view known = ray_name_of(device, {});
    if (!known.empty() && known != ray_name && !config_.overwrite_default_resource_mapping) {
      add("extended_resource_mapping", device + "=" + ray_name,
          "replaces the built-in name " + std::string(known),
          "set overwrite_default_resource_mapping");
    }
  }
}

void Checker::check_devices(const std::string& field, const model::StringMap& devices) {
  for (const auto& [device, amount] : devices) {
    if (!model::check_qualified_name(device).empty()) {
      add(field, device, "is not the name of a resource", "give a name such as nvidia.com/gpu");
    } else if (ray_name_of(device, config_.extended_resource_mapping).empty()) {
      add(field, device, "has no name in Ray",
          "add it to extended_resource_mapping, such as {\"" + device + "\": \"GPU\"}");
    }
    const Result<model::Quantity> parsed = model::Quantity::parse(amount);
    if (!parsed || parsed->sign() < 0 || !parsed->exact_value()) {
      add(field, device + "=" + amount, "is not a number of devices", "give 0 or more");
    }
  }
}

void Checker::check_labels(const std::string& field, const model::StringMap& labels) {
  for (const auto& [key, value] : labels) {
    if (const auto wrong = model::check_qualified_name(key); !wrong.empty()) {
      add(field, key, "is not a valid key", model::join(wrong));
    }
    if (const auto wrong = model::check_label_value(value); !wrong.empty()) {
      add(field, key + "=" + value, "is not a valid value", model::join(wrong));
    }
  }
}

void Checker::check_group(const WorkerGroup& group, const std::string& where) {
  if (!model::check_dns1123_label(group.group_name).empty()) {
    add(where + ".group_name", group.group_name, "is not a valid name",
        "use lower-case letters, digits and '-'");
  }
  check_count(where + ".replicas", group.replicas);
  check_amounts({where + ".cpu", group.cpu_requests, group.cpu_limits});
  check_amounts({where + ".memory", group.memory_requests, group.memory_limits});
  check_devices(where + ".extended_resource_requests", group.extended_resource_requests);
  check_labels(where + ".labels", group.labels);
  const std::int64_t low = group.min_replicas.value_or(0);
  const std::int64_t high = group.max_replicas.value_or(kCountMax);
  if (low < 0 || high < low) {
    add(where + ".max_replicas", std::to_string(high),
        "is below min_replicas (" + std::to_string(low) + ")", "give min_replicas <= max_replicas");
  }
}

void Checker::check_groups() {
  std::set<std::string> names{std::string(kFirstGroup)};
  for (std::size_t i = 0; i < config_.additional_worker_groups.size(); ++i) {
    const WorkerGroup& group = config_.additional_worker_groups[i];
    const std::string where = "additional_worker_groups[" + std::to_string(i) + "]";
    check_group(group, where);
    if (!names.insert(group.group_name).second) {
      add(where + ".group_name", group.group_name, "is the name of another group",
          "give each group a name of its own; the first is " + std::string(kFirstGroup));
    }
  }
}

void Checker::check_queueing() {
  const bool bare = config_.queueing == Queueing::kueue || config_.queueing == Queueing::none;
  const std::string value(to_string(config_.queueing));
  const auto needs_wrapper = [&](const char* field, bool given) {
    if (bare && given) {
      add(field, "", "needs an AppWrapper", "remove it, or remove queueing = " + value);
    }
  };
  needs_wrapper("priority", config_.priority.has_value());
  needs_wrapper("quota_labels", !config_.quota_labels.empty());
  needs_wrapper("max_time", config_.max_seconds > 0);
  needs_wrapper("expose", config_.expose);
  if (config_.priority && (*config_.priority > kCountMax || *config_.priority < -kCountMax)) {
    add("priority", std::to_string(*config_.priority), "does not fit", "give a smaller number");
  }
  if (config_.max_seconds < 0) {
    add("max_time", std::to_string(config_.max_seconds), "is negative", "give a time such as 6h");
  }
  const bool other = config_.queueing == Queueing::appwrapper || config_.queueing == Queueing::none;
  if (other && !config_.local_queue.empty()) {
    add("local_queue", config_.local_queue, "is a queue of Kueue", "set queueing = kueue");
  }
  if (config_.queueing == Queueing::kueue && config_.local_queue.empty()) {
    add("local_queue", "", "is missing", "name the LocalQueue of Kueue");
  }
  if (config_.instascale && config_.machine_types.empty()) {
    add("machine_types", "", "is missing", "name a machine type, or remove instascale");
  }
}

void Checker::check_autoscaling() {
  if (!config_.enable_autoscaling) {
    return;
  }
  if (!config_.min_workers || !config_.max_workers) {
    add("enable_autoscaling", "true", "needs min_workers and max_workers", "give both");
    return;
  }
  check_count("min_workers", *config_.min_workers);
  if (*config_.max_workers < *config_.min_workers) {
    add("max_workers", std::to_string(*config_.max_workers),
        "is below min_workers (" + std::to_string(*config_.min_workers) + ")",
        "give min_workers <= max_workers");
  }
}

void Checker::check_exposure() {
  const std::string& kind = config_.expose_kind;
  using Part = std::pair<const char*, bool>;
  for (const auto& [field, given] :
       {Part{"expose_kind", !kind.empty()}, Part{"expose_host", !config_.expose_host.empty()},
        Part{"expose_tls_secret", !config_.expose_tls_secret.empty()},
        Part{"expose_gateway", !config_.expose_gateway.empty()},
        Part{"insecure_dashboard", config_.insecure_dashboard}}) {
    if (given && !config_.expose) {
      add(field, "", "has no effect without expose", "set expose = true, or remove it");
    }
  }
  if (!config_.expose) {
    return;
  }
  if (config_.queueing == Queueing::automatic && !config_.local_queue.empty()) {
    add("expose", "", "needs an AppWrapper", "remove it, or remove local_queue");
  }
  if (!kind.empty() && kind != kRoute && kind != kHttpRoute && kind != kIngress) {
    add("expose_kind", kind, "is unknown", "give route, httproute or ingress");
  } else if (!kind.empty() && kind != kRoute && config_.expose_host.empty()) {
    add("expose_host", "", "is missing", "give the host name of the dashboard");
  }
  if (!config_.expose_host.empty() &&
      !model::check_dns1123_subdomain(config_.expose_host).empty()) {
    add("expose_host", config_.expose_host, "is not a host name",
        "give a name such as demo.example.com");
  }
  if (kind == kHttpRoute && config_.expose_gateway.empty()) {
    add("expose_gateway", "", "is missing", "give NAMESPACE/NAME/LISTENER of a Gateway with TLS");
  }
  if (std::ranges::count(config_.expose_gateway, '/') > 2) {
    add("expose_gateway", config_.expose_gateway, "is not a Gateway",
        "give NAMESPACE/NAME or NAMESPACE/NAME/LISTENER");
  }
}

// As the controllers check it.
void Checker::check_token() {
  const std::string& text = config_.ray_version;
  std::pair<int, int> version;
  const char* end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.first);
  if (error == std::errc() && dot != end && *dot == '.') {
    std::from_chars(dot + 1, end, version.second);
  }
  if (!wants_token(config_) || version >= std::pair(2, 52)) {
    return;
  }
  const std::string got = text.empty() ? "without ray_version" : "of Ray " + text;
  if (config_.token_authentication) {
    add("token_authentication", "", "is not a feature " + got, "use Ray 2.52.0 or later");
  } else {
    add("expose", "", "needs token authentication, which is not a feature " + got,
        "use Ray 2.52.0 or later, or set insecure_dashboard");
  }
}

void Checker::check_fault_tolerance() {
  if (config_.enable_gcs_ft && config_.redis_address.empty()) {
    add("redis_address", "", "is missing", "give the address of Redis, or remove enable_gcs_ft");
  }
  const model::StringMap& secret = config_.redis_password_secret;
  if (!secret.empty() &&
      (secret.size() != 2 || !secret.contains("name") || !secret.contains("key"))) {
    add("redis_password_secret", "", "does not consist of name and key",
        "give the name of the Secret and the key in it");
  }
}

// A program may have put anything there.
void Checker::check_json(const std::string& field, const model::RawJson& raw) {
  if (!raw.empty() && !json::parse(raw.text)) {
    add(field, raw.text, "is not JSON", "give JSON");
  }
}

std::vector<Fault> Checker::run() {
  check_names();
  check_sizes();
  check_groups();
  check_labels("labels", config_.labels);
  check_labels("quota_labels", config_.quota_labels);
  check_labels("head_node_selector", config_.head_node_selector);
  check_labels("worker_node_selector", config_.worker_node_selector);
  for (const auto& [key, value] : config_.envs) {
    if (key.empty() || key.find('=') != std::string::npos) {
      add("envs", key, "is not the name of a variable", "give a name without '='");
    }
  }
  check_json("volumes", config_.volumes);
  check_json("volume_mounts", config_.volume_mounts);
  check_json("head_tolerations", config_.head_tolerations);
  check_json("worker_tolerations", config_.worker_tolerations);
  check_json("head_pod_overrides", config_.head_pod_overrides);
  check_json("worker_pod_overrides", config_.worker_pod_overrides);
  check_queueing();
  check_autoscaling();
  check_exposure();
  check_token();
  check_fault_tolerance();
  return std::move(faults_);
}

}  // namespace

std::string Fault::sentence() const {
  std::string text = field;
  text += text.empty() ? "" : ": ";
  if (!value.empty()) {
    text += value + " ";
  }
  text += problem;
  return fix.empty() ? text : text + "; " + fix;
}

std::vector<Fault> faults_of(const ClusterConfig& config) {
  std::vector<Fault> faults = Checker(config).run();
  return faults.empty() ? internal::shape_faults(config) : faults;
}

Error config_error(const std::vector<Fault>& faults) {
  if (faults.size() == 1) {
    return invalid_argument(faults.front().sentence());
  }
  std::string text =
      "the cluster configuration has " + std::to_string(faults.size()) + " problems:";
  for (const Fault& fault : faults) {
    text += "\n  " + fault.sentence();
  }
  return invalid_argument(std::move(text));
}

}  // namespace codeflare::sdk
