#include "node/agent/pod_fields.h"

#include "json/write.h"

#include <algorithm>

namespace codeflare::node {

namespace {

using model::Quantity;

// key="value" by lines, as the downward API has it.
std::string map_text(const model::StringMap& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    text += (text.empty() ? "" : "\n") + key + "=";
    json::append_quoted(text, value);
  }
  return text;
}

// "metadata.labels['a/b']" with prefix "metadata.labels" has the key a/b.
std::optional<std::string_view> subscript(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) {
    return std::nullopt;
  }
  path.remove_prefix(prefix.size());
  if (path.size() < 4 || !path.starts_with("['") || !path.ends_with("']")) {
    return std::nullopt;
  }
  return path.substr(2, path.size() - 4);
}

template <typename T>
std::string joined(const std::vector<T>& addresses, const std::string& first) {
  std::string text;
  for (const T& address : addresses) {
    text += (text.empty() ? "" : ",") + address.ip;
  }
  return text.empty() ? first : text;
}

const model::Container* find_container(const model::PodSpec& spec, const std::string& name) {
  for (const auto* list : {&spec.containers, &spec.init_containers}) {
    const auto found = std::ranges::find(*list, name, &model::Container::name);
    if (found != list->end()) {
      return &*found;
    }
  }
  return nullptr;
}

std::int64_t divide_up(std::int64_t amount, std::int64_t by) {
  return amount / by + (amount % by > 0 ? 1 : 0);
}

}  // namespace

Result<std::string> pod_field(const model::Pod& pod, std::string_view path) {
  if (const auto key = subscript(path, "metadata.labels")) {
    return std::string(model::find_or_empty(pod.metadata.labels, *key));
  }
  if (const auto key = subscript(path, "metadata.annotations")) {
    return std::string(model::find_or_empty(pod.metadata.annotations, *key));
  }
  if (path == "metadata.labels") {
    return map_text(pod.metadata.labels);
  }
  if (path == "metadata.annotations") {
    return map_text(pod.metadata.annotations);
  }
  if (path == "status.hostIPs") {
    return joined(pod.status.host_ips, pod.status.host_ip);
  }
  if (path == "status.podIPs") {
    return joined(pod.status.pod_ips, pod.status.pod_ip);
  }
  const std::pair<std::string_view, const std::string*> fields[] = {
      {"metadata.name", &pod.metadata.name},
      {"metadata.namespace", &pod.metadata.ns},
      {"metadata.uid", &pod.metadata.uid},
      {"spec.nodeName", &pod.spec.node_name},
      {"spec.serviceAccountName", &pod.spec.service_account_name},
      {"status.hostIP", &pod.status.host_ip},
      {"status.podIP", &pod.status.pod_ip}};
  for (const auto& [name, value] : fields) {
    if (path == name) {
      return *value;
    }
  }
  return fail(invalid_argument("unsupported fieldPath: " + std::string(path)));
}

Result<std::string> resource_field(const model::Pod& pod, const model::Container& container,
                                   const model::ResourceFieldSelector& selector,
                                   const model::ResourceList& allocatable) {
  const model::Container* of = selector.container_name.empty()
                                   ? &container
                                   : find_container(pod.spec, selector.container_name);
  if (of == nullptr) {
    return fail(invalid_argument("container " + selector.container_name + " not found"));
  }
  const std::string_view path = selector.resource;
  const bool limit = path.starts_with("limits.");
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos || (!limit && !path.starts_with("requests."))) {
    return fail(invalid_argument("unsupported container resource : " + selector.resource));
  }
  const std::string_view name = path.substr(dot + 1);
  const model::ResourceList& list = limit ? of->resources.limits : of->resources.requests;
  const Quantity* set = list.find(name);
  const Quantity amount =
      set != nullptr ? *set : (limit ? allocatable.get(name) : of->resources.limits.get(name));
  const Quantity divisor =
      selector.divisor && !selector.divisor->is_zero() ? *selector.divisor : Quantity(1);
  if (name == "cpu") {
    return std::to_string(
        divide_up(amount.milli_value(), std::max<std::int64_t>(divisor.milli_value(), 1)));
  }
  return std::to_string(divide_up(amount.value(), std::max<std::int64_t>(divisor.value(), 1)));
}

}  // namespace codeflare::node
