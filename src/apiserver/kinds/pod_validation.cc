#include "apiserver/kinds/edit.h"
#include "apiserver/kinds/pod_spec.h"
#include "json/write.h"
#include "model/labels.h"
#include "model/quantity.h"
#include "model/validation.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace codeflare::apiserver {

namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::int64_t kPortMax = 65535;

void check(const model::Complaints& complaints, std::string_view value, std::string field,
           FieldErrors& errors) {
  for (const std::string& complaint : complaints) {
    errors.invalid_text(field, value, complaint);
  }
}

void one_of(const json::Value& parent, std::string_view key, std::string_view path,
            std::vector<std::string> supported, FieldErrors& errors) {
  const std::string_view value = text_at(parent, key);
  if (value.empty()) {
    errors.required(child(path, key), "");
  } else if (std::ranges::find(supported, value) == supported.end()) {
    const std::string shown = quote(value);
    errors.not_supported(child(path, key), shown, supported);
  }
}

bool port_in_range(std::int64_t port) {
  return port >= 1 && port <= kPortMax;
}

void validate_ports(const json::Value& container, std::string_view path, FieldErrors& errors) {
  Names names;
  std::size_t i = 0;
  for (const json::Value& port : items_at(container, "ports")) {
    const std::string at = at_index(path, i++);
    if (const std::string_view name = text_at(port, "name"); !name.empty()) {
      const model::Complaints complaints = model::check_port_name(name);
      check(complaints, name, child(at, "name"), errors);
      if (complaints.empty() && !names.emplace(name).second) {
        const std::string shown = quote(name);
        errors.duplicate(child(at, "name"), shown);
      }
    }
    const std::int64_t number = integer_at(port, "containerPort").value_or(0);
    if (number == 0) {
      errors.required(child(at, "containerPort"), "");
    } else if (!port_in_range(number)) {
      errors.invalid(child(at, "containerPort"), std::to_string(number),
                     "must be between 1 and 65535, inclusive");
    }
    const std::int64_t host = integer_at(port, "hostPort").value_or(0);
    if (host != 0 && !port_in_range(host)) {
      errors.invalid(child(at, "hostPort"), std::to_string(host),
                     "must be between 1 and 65535, inclusive");
    }
    one_of(port, "protocol", at, {"SCTP", "TCP", "UDP"}, errors);
  }
}

void validate_value_from(const json::Value& variable, std::string_view path, FieldErrors& errors) {
  const json::Value* from = variable.find("valueFrom");
  if (from == nullptr || !from->is_object()) {
    return;
  }
  std::size_t sources = 0;
  for (const json::Member& member : from->members()) {
    sources += member.value.is_null() ? 0 : 1;
  }
  const std::string at = child(path, "valueFrom");
  if (sources == 0) {
    errors.invalid_text(at, "",
                        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                        "`secretKeyRef`");
  } else if (!text_at(variable, "value").empty()) {
    errors.invalid_text(at, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    errors.invalid_text(at, "", "may not have more than one field specified at a time");
  }
  for (std::string_view key : {"configMapKeyRef", "secretKeyRef"}) {
    if (const json::Value* reference = from->find(key);
        reference != nullptr && reference->is_object()) {
      if (text_at(*reference, "name").empty()) {
        errors.required(child(child(at, key), "name"), "");
      }
      if (text_at(*reference, "key").empty()) {
        errors.required(child(child(at, key), "key"), "");
      }
    }
  }
}

void validate_env(const json::Value& container, std::string_view path, FieldErrors& errors) {
  std::size_t i = 0;
  for (const json::Value& variable : items_at(container, "env")) {
    const std::string at = at_index(path, i++);
    const std::string_view name = text_at(variable, "name");
    if (name.empty()) {
      errors.required(child(at, "name"), "");
    } else if (std::ranges::any_of(name, [](char c) { return c < 0x20 || c > 0x7e || c == '='; })) {
      errors.invalid_text(child(at, "name"), name,
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
    }
    validate_value_from(variable, at, errors);
  }
}

void validate_mounts(const json::Value& container, const Names& volumes, std::string_view path,
                     FieldErrors& errors) {
  Names points;
  std::size_t i = 0;
  for (const json::Value& mount : items_at(container, "volumeMounts")) {
    const std::string at = at_index(path, i++);
    const std::string_view name = text_at(mount, "name");
    if (name.empty()) {
      errors.required(child(at, "name"), "");
    }
    if (!volumes.contains(name)) {
      const std::string shown = quote(name);
      errors.not_found(child(at, "name"), shown);
    }
    const std::string_view point = text_at(mount, "mountPath");
    if (point.empty()) {
      errors.required(child(at, "mountPath"), "");
    }
    if (!points.emplace(point).second) {
      errors.invalid_text(child(at, "mountPath"), point, "must be unique");
    }
    if (const std::string_view sub = text_at(mount, "subPath"); !sub.empty()) {
      if (sub.starts_with('/')) {
        errors.invalid_text(child(path, "subPath"), sub, "must be a relative path");
      }
      if (sub == ".." || sub.starts_with("../") || sub.ends_with("/..") ||
          sub.find("/../") != std::string_view::npos) {
        errors.invalid_text(child(path, "subPath"), sub, "must not contain '..'");
      }
    }
  }
}

void validate_probe(const json::Value& container, std::string_view key, std::string_view path,
                    FieldErrors& errors) {
  const json::Value* probe = container.find(key);
  if (probe == nullptr || !probe->is_object()) {
    return;
  }
  const std::string at = child(path, key);
  int handlers = 0;
  for (std::string_view handler : {"exec", "httpGet", "tcpSocket", "grpc"}) {
    if (!absent(*probe, handler) && ++handlers > 1) {
      errors.forbidden(child(at, handler), "may not specify more than 1 handler type");
    }
  }
  if (handlers == 0) {
    errors.required(at, "must specify a handler type");
  }
  for (std::string_view number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                  "successThreshold", "failureThreshold"}) {
    validate_nonnegative(*probe, number, at, errors);
  }
  if (key != "readinessProbe" && integer_at(*probe, "successThreshold").value_or(1) != 1) {
    errors.invalid(child(at, "successThreshold"),
                   std::to_string(*integer_at(*probe, "successThreshold")), "must be 1");
  }
}

void validate_container(const json::Value& container, const Names& volumes, std::string_view path,
                        FieldErrors& errors) {
  const std::string_view name = text_at(container, "name");
  if (name.empty()) {
    errors.required(child(path, "name"), "");
  } else {
    check(model::check_dns1123_label(name), name, child(path, "name"), errors);
  }
  if (text_at(container, "image").empty()) {
    errors.required(child(path, "image"), "");
  }
  one_of(container, "terminationMessagePolicy", path, {"File", "FallbackToLogsOnError"}, errors);
  validate_ports(container, child(path, "ports"), errors);
  validate_env(container, child(path, "env"), errors);
  validate_mounts(container, volumes, child(path, "volumeMounts"), errors);
  one_of(container, "imagePullPolicy", path, {"Always", "IfNotPresent", "Never"}, errors);
  validate_resources(object_at(container, "resources"), child(path, "resources"), errors);
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    validate_probe(container, probe, path, errors);
  }
}

Names validate_volumes(const json::Value& spec, std::string_view path, FieldErrors& errors) {
  Names names;
  std::size_t i = 0;
  for (const json::Value& volume : items_at(spec, "volumes")) {
    const std::string at = at_index(path, i++);
    std::size_t sources = 0;
    for (const json::Member& member : volume.members()) {
      if (member.key != "name" && !member.value.is_null() && ++sources == 2) {
        errors.forbidden(child(at, member.key), "may not specify more than 1 volume type");
      }
    }
    const std::string_view name = text_at(volume, "name");
    if (name.empty()) {
      errors.required(child(at, "name"), "");
    } else {
      check(model::check_dns1123_label(name), name, child(at, "name"), errors);
    }
    if (!names.emplace(name).second) {
      const std::string shown = quote(name);
      errors.duplicate(child(at, "name"), shown);
    }
    if (const json::Value* claim = volume.find("persistentVolumeClaim");
        claim != nullptr && claim->is_object() && text_at(*claim, "claimName").empty()) {
      errors.required(child(child(at, "persistentVolumeClaim"), "claimName"), "");
    }
    if (const json::Value* host = volume.find("hostPath");
        host != nullptr && host->is_object() && text_at(*host, "path").empty()) {
      errors.required(child(child(at, "hostPath"), "path"), "");
    }
    if (const json::Value* secret = volume.find("secret");
        secret != nullptr && secret->is_object() && text_at(*secret, "secretName").empty()) {
      errors.required(child(child(at, "secret"), "secretName"), "");
    }
    if (const json::Value* map = volume.find("configMap");
        map != nullptr && map->is_object() && text_at(*map, "name").empty()) {
      errors.required(child(child(at, "configMap"), "name"), "");
    }
  }
  return names;
}

void validate_tolerations(const json::Value& spec, std::string_view path, FieldErrors& errors) {
  std::size_t i = 0;
  for (const json::Value& toleration : items_at(spec, "tolerations")) {
    const std::string at = at_index(path, i++);
    const std::string_view key = text_at(toleration, "key");
    const std::string_view op = text_at(toleration, "operator");
    const std::string_view effect = text_at(toleration, "effect");
    if (!key.empty()) {
      check(model::check_qualified_name(key), key, child(at, "key"), errors);
    } else if (op != "Exists") {
      errors.invalid_text(child(at, "operator"), op,
                          "operator must be Exists when `key` is empty, which means \"match all "
                          "values and all keys\"");
    }
    if (!absent(toleration, "tolerationSeconds") && effect != "NoExecute") {
      errors.invalid_text(child(at, "effect"), effect,
                          "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    const std::string_view value = text_at(toleration, "value");
    if (op == "Exists") {
      if (!value.empty()) {
        errors.invalid_text(child(at, "operator"), value,
                            "value must be empty when `operator` is 'Exists'");
      }
    } else if (op.empty() || op == "Equal") {
      check(model::check_label_value(value), value, child(at, "operator"), errors);
    } else {
      errors.not_supported(child(at, "operator"), quote(op), {"Equal", "Exists"});
    }
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" &&
        effect != "NoExecute") {
      errors.not_supported(child(at, "effect"), quote(effect),
                           {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
  }
}

std::optional<model::Quantity> amount_of(const json::Value& value) {
  if (!value.is_string() && !value.is_number()) {
    return std::nullopt;
  }
  Result<model::Quantity> amount =
      model::Quantity::parse(value.is_string() ? value.as_string() : value.number());
  return amount ? std::optional(*amount) : std::nullopt;
}

// Native resources may be requested below their limit, extended ones and huge pages may not.
bool may_overcommit(std::string_view name) {
  return name.find('/') == std::string_view::npos ? !name.starts_with("hugepages-")
                                                  : name.starts_with("kubernetes.io/");
}

void validate_resource_name(std::string_view name, std::string_view path, FieldErrors& errors) {
  check(model::check_qualified_name(name), name, std::string(path), errors);
  if (name.find('/') == std::string_view::npos && name != "cpu" && name != "memory" &&
      name != "ephemeral-storage" && !name.starts_with("hugepages-")) {
    errors.invalid_text(std::string(path), name, "must be a standard resource for containers");
  }
}

}  // namespace

void validate_nonnegative(const json::Value& parent, std::string_view key, std::string_view path,
                          FieldErrors& errors) {
  const std::optional<std::int64_t> value = integer_at(parent, key);
  if (value && *value < 0) {
    errors.invalid(child(path, key), std::to_string(*value), "must be greater than or equal to 0");
  }
}

void validate_resources(const json::Value& resources, std::string_view path, FieldErrors& errors) {
  const json::Value& limits = object_at(resources, "limits");
  for (std::string_view list : {"limits", "requests"}) {
    for (const json::Member& member : object_at(resources, list).members()) {
      const std::string at = at_key(child(path, list), member.key);
      validate_resource_name(member.key, at, errors);
      const std::optional<model::Quantity> amount = amount_of(member.value);
      if (!amount) {
        continue;  // the shape was checked before
      }
      if (amount->sign() < 0) {
        errors.invalid_text(at, amount->to_string(), "must be greater than or equal to 0");
      }
      if (!may_overcommit(member.key) && !amount->exact_value() &&
          member.key.find('/') != std::string_view::npos) {
        errors.invalid_text(at, amount->to_string(), "must be an integer");
      }
      if (list == "limits") {
        continue;
      }
      const json::Value* limit_value = limits.find(member.key);
      const std::optional<model::Quantity> limit =
          limit_value == nullptr ? std::nullopt : amount_of(*limit_value);
      if (!limit) {
        if (!may_overcommit(member.key)) {
          errors.required(child(path, "limits"),
                          "Limit must be set for non overcommitable resources");
        }
      } else if (*amount != *limit && !may_overcommit(member.key)) {
        errors.invalid_text(
            child(path, "requests"), amount->to_string(),
            "must be equal to " + std::string(member.key) + " limit of " + limit->to_string());
      } else if (*amount > *limit) {
        errors.invalid_text(child(path, "requests"), amount->to_string(),
                            "must be less than or equal to " + std::string(member.key) +
                                " limit of " + limit->to_string());
      }
    }
  }
}

void validate_labels(const json::Value& labels, std::string_view path, FieldErrors& errors) {
  for (const json::Member& member : labels.members()) {
    check(model::check_qualified_name(member.key), member.key, std::string(path), errors);
    if (member.value.is_string()) {
      check(model::check_label_value(member.value.as_string()), member.value.as_string(),
            std::string(path), errors);
    }
  }
}

bool validate_label_selector(const json::Value& selector, std::string_view path,
                             FieldErrors& errors) {
  const std::size_t before = errors.causes().size();
  validate_labels(object_at(selector, "matchLabels"), child(path, "matchLabels"), errors);
  std::size_t i = 0;
  for (const json::Value& expression : items_at(selector, "matchExpressions")) {
    const std::string at = at_index(child(path, "matchExpressions"), i++);
    const std::string_view op = text_at(expression, "operator");
    const std::size_t values = items_at(expression, "values").size();
    if (op == "In" || op == "NotIn") {
      if (values == 0) {
        errors.required(child(at, "values"),
                        "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (values > 0) {
        errors.forbidden(child(at, "values"),
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      const std::string shown = quote(op);
      errors.invalid(child(at, "operator"), shown, "not a valid selector operator");
    }
    const std::string_view key = text_at(expression, "key");
    check(model::check_qualified_name(key), key, child(at, "key"), errors);
  }
  return errors.causes().size() == before;
}

bool selector_matches(const json::Value& selector, const json::Value& labels) {
  for (const json::Member& member : object_at(selector, "matchLabels").members()) {
    const json::Value* value = labels.find(member.key);
    if (value == nullptr || !json::equal(*value, member.value)) {
      return false;
    }
  }
  for (const json::Value& expression : items_at(selector, "matchExpressions")) {
    const json::Value* value = labels.find(text_at(expression, "key"));
    const std::string_view op = text_at(expression, "operator");
    const bool listed = value != nullptr && std::ranges::any_of(items_at(expression, "values"),
                                                                [&](const json::Value& item) {
                                                                  return json::equal(item, *value);
                                                                });
    if ((op == "In" && !listed) || (op == "NotIn" && listed) ||
        (op == "Exists" && value == nullptr) || (op == "DoesNotExist" && value != nullptr)) {
      return false;
    }
  }
  return true;
}

void validate_pod_spec(const json::Value& spec, std::string_view path, FieldErrors& errors) {
  const Names volumes = validate_volumes(spec, child(path, "volumes"), errors);
  if (items_at(spec, "containers").empty()) {
    errors.required(child(path, "containers"), "");
  }
  Names names;
  for (std::string_view list : {"containers", "initContainers"}) {
    std::size_t i = 0;
    for (const json::Value& container : items_at(spec, list)) {
      const std::string at = at_index(child(path, list), i++);
      validate_container(container, volumes, at, errors);
      const std::string_view name = text_at(container, "name");
      if (!name.empty() && !names.emplace(name).second) {
        const std::string shown = quote(name);
        errors.duplicate(child(at, "name"), shown);
      }
    }
  }
  one_of(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, errors);
  one_of(spec, "dnsPolicy", path, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
         errors);
  validate_labels(object_at(spec, "nodeSelector"), child(path, "nodeSelector"), errors);
  for (std::string_view key :
       {"serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"}) {
    if (const std::string_view name = text_at(spec, key); !name.empty()) {
      check(model::check_dns1123_subdomain(name), name, child(path, key), errors);
    }
  }
  const std::optional<std::int64_t> deadline = integer_at(spec, "activeDeadlineSeconds");
  if (deadline && (*deadline < 1 || *deadline > std::numeric_limits<std::int32_t>::max())) {
    errors.invalid(child(path, "activeDeadlineSeconds"), std::to_string(*deadline),
                   "must be between 1 and 2147483647, inclusive");
  }
  for (std::string_view key : {"hostname", "subdomain"}) {
    if (const std::string_view name = text_at(spec, key); !name.empty()) {
      check(model::check_dns1123_label(name), name, child(path, key), errors);
    }
  }
  validate_tolerations(spec, child(path, "tolerations"), errors);
  if (!absent(spec, "preemptionPolicy")) {
    one_of(spec, "preemptionPolicy", path, {"PreemptLowerPriority", "Never"}, errors);
  }
}

void validate_ephemeral_containers(const json::Value& spec, std::string_view path,
                                   FieldErrors& errors) {
  constexpr std::string_view kNever = "cannot be set for an Ephemeral Container";
  Names volumes;
  for (const json::Value& volume : items_at(spec, "volumes")) {
    volumes.emplace(text_at(volume, "name"));
  }
  Names targets;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json::Value& container : items_at(spec, list)) {
      targets.emplace(text_at(container, "name"));
    }
  }
  Names names = targets;
  std::size_t i = 0;
  for (const json::Value& container : items_at(spec, "ephemeralContainers")) {
    const std::string at = at_index(child(path, "ephemeralContainers"), i++);
    validate_container(container, volumes, at, errors);
    const std::string_view name = text_at(container, "name");
    if (!names.emplace(name).second) {
      errors.duplicate(child(at, "name"), quote(name));
    }
    const std::string_view target = text_at(container, "targetContainerName");
    if (!target.empty() && !targets.contains(target)) {
      errors.not_found(child(at, "targetContainerName"), quote(target));
    }
    // Nothing that a pod's service could rest on.
    for (std::string_view key :
         {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
          "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
      if (!same(container.find(key), nullptr)) {
        errors.forbidden(child(at, key), kNever);
      }
    }
    std::size_t mount = 0;
    for (const json::Value& volume : items_at(container, "volumeMounts")) {
      const std::string where = at_index(child(at, "volumeMounts"), mount++);
      for (std::string_view key : {"subPath", "subPathExpr"}) {
        if (!text_at(volume, key).empty()) {
          errors.forbidden(child(where, key), kNever);
        }
      }
    }
  }
}

void validate_pod_template(const json::Value& pod_template, std::string_view path,
                           FieldErrors& errors) {
  validate_labels(object_at(pod_template, {"metadata", "labels"}), child(path, "labels"), errors);
  validate_pod_spec(object_at(pod_template, "spec"), child(path, "spec"), errors);
}

}  // namespace codeflare::apiserver
