#include "apiserver/kinds/podspec/checks.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace codeflare::apiserver::podspec {

namespace {

// "metadata.labels['key']" in two; nothing when there is no subscript.
std::optional<std::pair<std::string_view, std::string_view>> subscripted(std::string_view path) {
  constexpr std::string_view kOpen = "['";
  constexpr std::string_view kClose = "']";
  const std::size_t open = path.find(kOpen);
  if (!path.ends_with(kClose) || open == std::string_view::npos || open == 0 ||
      open + kOpen.size() > path.size() - kClose.size()) {
    return std::nullopt;
  }
  path.remove_suffix(kClose.size());
  return std::pair(path.substr(0, open), path.substr(open + kOpen.size()));
}

// A field that a selector of pods could name at all.
bool is_field_of_pods(std::string_view path) {
  constexpr std::array<std::string_view, 15> kFields = {
      "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
      "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
      "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
      "status.podIP",         "status.podIPs",   "spec.host"};
  return std::ranges::find(kFields, path) != kFields.end();
}

// Of a field with a subscript.
void check_subscripted(const Field& reference, std::string_view map, std::string_view key) {
  const std::string_view path = reference.text("fieldPath");
  if (map == "metadata.annotations") {
    check_label_name(reference, "", lower(key));
  } else if (map == "metadata.labels") {
    check_label_name(reference, "", key);
  } else {
    reference.invalid_text(
        "fieldPath", path,
        "error converting fieldPath: field label does not support subscript: " + std::string(path));
  }
}

// The unit of a resource value.
void check_divisor(const Field& reference) {
  const Field divisor = reference["divisor"];
  const auto amount = model::Quantity::parse(divisor.value().is_number() ? divisor.value().number()
                                                                         : divisor.text());
  if (!divisor.given() || !amount || amount->is_zero()) {
    return;
  }
  const std::string_view resource = reference.text("resource");
  const std::string_view name = resource.substr(std::min(resource.find('.') + 1, resource.size()));
  const std::string unit = amount->to_string();
  constexpr std::array<std::string_view, 13> kSizes = {
      "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  if (name == "cpu") {
    if (unit != "1m" && unit != "1") {
      reference.invalid_text("divisor", resource,
                             "only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  const std::string_view called = name == "memory"                 ? "memory"
                                  : name == "ephemeral-storage"    ? "local ephemeral storage"
                                  : name.starts_with("hugepages-") ? "hugepages"
                                                                   : "";
  if (!called.empty() && std::ranges::find(kSizes, unit) == kSizes.end()) {
    reference.invalid_text("divisor", resource,
                           "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, "
                           "1Pi, 1Ei are supported with the " +
                               std::string(called) + " resource");
  }
}

void check_key_of(const Field& reference) {
  check_any_name(reference, "name", model::check_dns1123_subdomain);
  need_name(reference, "key", model::check_config_map_key);
}

void check_value_from(const Field& variable) {
  const Field from = variable["valueFrom"];
  if (!from.given()) {
    return;
  }
  int sources = 0;
  const auto visit = [&](std::string_view kind, auto check) {
    const Field source = from[kind];
    if (source.given()) {
      ++sources;
      check(source);
    }
  };
  visit("fieldRef",
        [](const Field& source) { check_field_reference(source, DownwardApi::variable); });
  visit("resourceFieldRef",
        [](const Field& source) { check_resource_reference(source, DownwardApi::variable); });
  visit("configMapKeyRef", check_key_of);
  visit("secretKeyRef", check_key_of);
  if (sources == 0) {
    from.invalid_text("", "",
                      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                      "`secretKeyRef`");
  } else if (!variable.text("value").empty()) {
    from.invalid_text("", "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    from.invalid_text("", "", "may not have more than one field specified at a time");
  }
}

}  // namespace

void check_field_reference(const Field& reference, DownwardApi where) {
  const std::string_view path = reference.text("fieldPath");
  for (std::string_view key : {"apiVersion", "fieldPath"}) {
    if (reference.text(key).empty()) {
      reference.required(key);
      return;
    }
  }
  if (reference.text("apiVersion") != "v1") {
    reference.invalid_text("fieldPath", path,
                           "error converting fieldPath: unsupported pod version: " +
                               std::string(reference.text("apiVersion")));
  } else if (const auto parts = subscripted(path)) {
    check_subscripted(reference, parts->first, parts->second);
  } else if (!is_field_of_pods(path)) {
    reference.invalid_text(
        "fieldPath", path,
        "error converting fieldPath: field label not supported: " + std::string(path));
  } else {
    // An old name of the node's field stands for its new one.
    const std::string_view field = path == "spec.host" ? "spec.nodeName" : path;
    const auto one_of = [&](Words told) {
      if (std::ranges::find(told, field) == told.end()) {
        reference.not_supported("fieldPath", field, told);
      }
    };
    if (where == DownwardApi::variable) {
      one_of({"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
              "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
              "status.podIPs"});
    } else {
      one_of({"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
              "metadata.uid"});
    }
  }
}

void check_resource_reference(const Field& reference, DownwardApi where) {
  const std::string_view resource = reference.text("resource");
  if (where == DownwardApi::file && reference.text("containerName").empty()) {
    reference.required("containerName");
  } else if (resource.empty()) {
    reference.required("resource");
  } else if (!resource.starts_with("limits.hugepages-") &&
             !resource.starts_with("requests.hugepages-")) {
    check_one_of(reference, "resource",
                 {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
                  "requests.ephemeral-storage", "requests.memory"});
  }
  check_divisor(reference);
}

void check_env(const Field& variables) {
  variables.each([](const Field& variable) {
    need_name(variable, "name", check_variable_name);
    check_value_from(variable);
  });
}

void check_env_from(const Field& sources) {
  sources.each([&](const Field& source) {
    check_name(source, "prefix", check_variable_name);
    int kinds = 0;
    for (std::string_view kind : {"configMapRef", "secretRef"}) {
      const Field reference = source[kind];
      if (reference.given()) {
        ++kinds;
        need_name(reference, "name", check_name_prefix);
      }
    }
    if (kinds == 0) {
      sources.invalid_text("", "", "must specify one of: `configMapRef` or `secretRef`");
    } else if (kinds > 1) {
      sources.invalid_text("", "", "may not have more than one field specified at a time");
    }
  });
}

}  // namespace codeflare::apiserver::podspec
