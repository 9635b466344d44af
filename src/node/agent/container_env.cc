#include "node/agent/container_env.h"

#include "node/agent/pod_fields.h"

#include <algorithm>
#include <cctype>

namespace codeflare::node {

namespace {

std::string variable_name(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void add_port(VariableMap& variables, const std::string& prefix, const std::string& host,
              const model::ServicePort& port) {
  const std::string protocol = port.protocol.empty() ? "TCP" : port.protocol;
  const std::string number = std::to_string(port.port);
  const std::string url = lower_case(protocol) + "://" + host + ":" + number;
  const std::string start = prefix + "_PORT_" + number + "_" + protocol;
  variables.try_emplace(prefix + "_PORT", url);
  variables[start] = url;
  variables[start + "_PROTO"] = lower_case(protocol);
  variables[start + "_PORT"] = number;
  variables[start + "_ADDR"] = host;
}

Error missing(std::string_view kind, const std::string& name) {
  return not_found(std::string(kind) + " \"" + name + "\" not found");
}

Result<void> add_all(VariableMap& variables, const model::EnvFromSource& from,
                     const PodInputs& inputs) {
  if (from.config_map_ref) {
    const auto found = inputs.config_maps.find(from.config_map_ref->name);
    if (found == inputs.config_maps.end()) {
      return from.config_map_ref->optional.value_or(false)
                 ? Result<void>()
                 : fail(missing("configmap", from.config_map_ref->name));
    }
    for (const auto& [key, value] : found->second.data) {
      variables[from.prefix + key] = value;
    }
  }
  if (from.secret_ref) {
    const auto found = inputs.secrets.find(from.secret_ref->name);
    if (found == inputs.secrets.end()) {
      return from.secret_ref->optional.value_or(false)
                 ? Result<void>()
                 : fail(missing("secret", from.secret_ref->name));
    }
    for (const auto& [key, value] : found->second.data) {
      variables[from.prefix + key] = value.bytes;
    }
  }
  return {};
}

using Found = std::optional<std::string>;

Result<Found> key_of_config_map(const model::Pod& pod, const model::KeySelector& ref,
                                const PodInputs& inputs) {
  const bool optional = ref.optional.value_or(false);
  const auto found = inputs.config_maps.find(ref.name);
  if (found == inputs.config_maps.end()) {
    return optional ? Result<Found>(std::nullopt) : fail(missing("configmap", ref.name));
  }
  const auto value = found->second.data.find(ref.key);
  if (value != found->second.data.end()) {
    return Found(value->second);
  }
  return optional ? Result<Found>(std::nullopt)
                  : fail(not_found("couldn't find key " + ref.key + " in ConfigMap " +
                                   pod.metadata.ns + "/" + ref.name));
}

Result<Found> key_of_secret(const model::Pod& pod, const model::KeySelector& ref,
                            const PodInputs& inputs) {
  const bool optional = ref.optional.value_or(false);
  const auto found = inputs.secrets.find(ref.name);
  if (found == inputs.secrets.end()) {
    return optional ? Result<Found>(std::nullopt) : fail(missing("secret", ref.name));
  }
  const auto value = found->second.data.find(ref.key);
  if (value != found->second.data.end()) {
    return Found(value->second.bytes);
  }
  return optional ? Result<Found>(std::nullopt)
                  : fail(not_found("couldn't find key " + ref.key + " in Secret " +
                                   pod.metadata.ns + "/" + ref.name));
}

// Nothing when something optional is not there: the variable is then left out.
Result<Found> value_from(const model::Pod& pod, const model::Container& container,
                         const model::EnvVarSource& source, const PodInputs& inputs) {
  if (source.field_ref) {
    return pod_field(pod, source.field_ref->field_path);
  }
  if (source.resource_field_ref) {
    return resource_field(pod, container, *source.resource_field_ref, inputs.allocatable);
  }
  if (source.config_map_key_ref) {
    return key_of_config_map(pod, *source.config_map_key_ref, inputs);
  }
  if (source.secret_key_ref) {
    return key_of_secret(pod, *source.secret_key_ref, inputs);
  }
  return fail(invalid_argument("a variable has a source that is not offered here"));
}

}  // namespace

VariableMap service_variables(const std::vector<model::Service>& services) {
  VariableMap variables;
  for (const model::Service& service : services) {
    const std::string& host = service.spec.cluster_ip;
    if (host.empty() || host == "None" || service.spec.ports.empty()) {
      continue;
    }
    const std::string prefix = variable_name(service.metadata.name);
    variables[prefix + "_SERVICE_HOST"] = host;
    variables[prefix + "_SERVICE_PORT"] = std::to_string(service.spec.ports.front().port);
    for (const model::ServicePort& port : service.spec.ports) {
      if (!port.name.empty()) {
        variables[prefix + "_SERVICE_PORT_" + variable_name(port.name)] = std::to_string(port.port);
      }
      add_port(variables, prefix, host, port);
    }
  }
  return variables;
}

Result<VariableMap> container_variables(const model::Pod& pod, const model::Container& container,
                                        const PodInputs& inputs) {
  VariableMap variables;
  if (pod.spec.enable_service_links.value_or(true)) {
    variables = service_variables(inputs.services);
  }
  if (!inputs.api_host.empty()) {
    variables["KUBERNETES_SERVICE_HOST"] = inputs.api_host;
    variables["KUBERNETES_SERVICE_PORT"] = inputs.api_port;
    variables["KUBERNETES_SERVICE_PORT_HTTPS"] = inputs.api_port;
  }
  for (const model::EnvFromSource& from : container.env_from) {
    TRY(add_all(variables, from, inputs));
  }
  for (const model::EnvVar& variable : container.env) {
    if (!variable.value_from) {
      variables[variable.name] = expand(variable.value, variables);
      continue;
    }
    TRY_ASSIGN(Found value, value_from(pod, container, *variable.value_from, inputs));
    if (value) {
      variables[variable.name] = *std::move(value);
    }
  }
  return variables;
}

}  // namespace codeflare::node
