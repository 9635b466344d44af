#include "elastic/injection.h"

#include <algorithm>
#include <utility>

namespace codeflare::elastic {

namespace {

constexpr std::string_view kAgentVolume = "lattice-agent";
constexpr std::string_view kStateVolume = "lattice-state";
constexpr std::string_view kOwnPythonPath = "LATTICE_PYTHONPATH";
constexpr std::int64_t kGraceMore = 10;

void set_if_absent(model::Container& container, std::string name, std::string value) {
  if (!value.empty() &&
      std::ranges::find(container.env, name, &model::EnvVar::name) == container.env.end()) {
    container.env.push_back({.name = std::move(name), .value = std::move(value)});
  }
}

void set_from_field(model::Container& container, std::string name, std::string field) {
  model::EnvVar variable{.name = std::move(name)};
  variable.value_from.emplace().field_ref.emplace().field_path = std::move(field);
  container.env.push_back(std::move(variable));
}

// Before a PYTHONPATH of the template. One that comes from elsewhere gets another name to refer to,
// because a variable has either a value or a source.
void add_library(model::Container& container) {
  const std::string python = std::string(kAgentDirectory) + "/python";
  const std::string library = python + "/codeflare_elastic/autopatch:" + python;
  auto path = std::ranges::find(container.env, "PYTHONPATH", &model::EnvVar::name);
  if (path == container.env.end()) {
    container.env.push_back({.name = "PYTHONPATH", .value = library});
  } else if (!path->value_from) {
    path->value = library + ":" + path->value;
  } else {
    path->name = kOwnPythonPath;
    container.env.insert(path + 1, {.name = "PYTHONPATH",
                                    .value = library + ":$(" + std::string(kOwnPythonPath) + ")"});
  }
}

void add_variables(model::Container& container, const Injection& injection) {
  const std::string sizes =
      std::to_string(injection.size_min) + ":" + std::to_string(injection.size_max);
  set_from_field(container, "LATTICE_POD_UID", "metadata.uid");
  set_from_field(container, "LATTICE_POD_IP", "status.podIP");
  set_if_absent(container, "LATTICE_JOB_NAME", injection.job);
  set_if_absent(container, "LATTICE_JOB_NAMESPACE", injection.ns);
  set_if_absent(container, "LATTICE_RDZV_ID", injection.uid);
  set_if_absent(container, "LATTICE_INDEX", std::to_string(injection.index));
  set_if_absent(container, "LATTICE_NNODES", sizes);
  set_if_absent(container, "LATTICE_NPROC_PER_NODE", std::to_string(injection.nproc));
  set_if_absent(container, "LATTICE_FRAMEWORK", injection.framework);
  set_if_absent(container, "LATTICE_RDZV_BACKEND", injection.backend);
  set_if_absent(container, "LATTICE_RDZV_CLIENT_SERVICE_HOST", injection.rdzv_host);
  set_if_absent(container, "LATTICE_RDZV_CLIENT_SERVICE_PORT", injection.rdzv_port);
  set_if_absent(container, "LATTICE_GRACE_SECONDS", std::to_string(injection.grace_seconds));
  set_if_absent(container, "LATTICE_MAX_RESTARTS", std::to_string(injection.restarts_max));
  set_if_absent(container, "LATTICE_STATE_DIR", std::string(kStateDirectory));
  set_if_absent(container, "PYTHONUNBUFFERED", "1");
  add_library(container);
}

void add_volumes(model::PodSpec& spec, model::Container& container) {
  model::Volume agent{.name = std::string(kAgentVolume)};
  agent.empty_dir.emplace();
  model::Volume state{.name = std::string(kStateVolume)};
  state.empty_dir.emplace().medium = "Memory";
  spec.volumes.push_back(std::move(agent));
  spec.volumes.push_back(std::move(state));
  container.volume_mounts.push_back({.name = std::string(kAgentVolume),
                                     .read_only = true,
                                     .mount_path = std::string(kAgentDirectory)});
  container.volume_mounts.push_back(
      {.name = std::string(kStateVolume), .mount_path = std::string(kStateDirectory)});
}

// Resources and security context of the training container: namespaces that ask every container
// for them admit the pod, its sum and its quality of service stay.
model::Container installer(const Injection& injection, const model::Container& training) {
  model::Container container{.name = "lattice-agent", .image = injection.operator_image};
  container.image_pull_policy = injection.image_pull_policy;
  container.resources = training.resources;
  container.security_context = training.security_context;
  container.args = std::vector<std::string>{"agent", "--install", std::string(kAgentDirectory)};
  container.volume_mounts.push_back(
      {.name = std::string(kAgentVolume), .mount_path = std::string(kAgentDirectory)});
  return container;
}

}  // namespace

Result<void> inject_agent(model::PodSpec& spec, const Injection& injection) {
  auto at = std::ranges::find(spec.containers, kTrainingContainer, &model::Container::name);
  if (at == spec.containers.end()) {
    return fail(invalid_argument("template.spec.containers has no container named 'trainingjob'"));
  }
  if (at->command.empty()) {
    return fail(invalid_argument(
        "container 'trainingjob' has no command; injectLattice cannot see the image's entry point: "
        "set command"));
  }
  std::vector<std::string> words = {std::string(kAgentDirectory) + "/codeflare-agent", "--"};
  words.insert(words.end(), at->command.begin(), at->command.end());
  words.insert(words.end(), at->args.begin(), at->args.end());
  at->command = std::move(words);
  at->args.clear();
  add_variables(*at, injection);
  add_volumes(spec, *at);
  spec.init_containers.insert(spec.init_containers.begin(), installer(injection, *at));
  // A notice has to end before the kubelet kills.
  spec.termination_grace_period_seconds = std::max(
      spec.termination_grace_period_seconds.value_or(0), injection.grace_seconds + kGraceMore);
  return {};
}

}  // namespace codeflare::elastic
