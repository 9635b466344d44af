#include "node/agent/container_spec.h"

#include "json/parse.h"
#include "model/node_extras.h"
#include "model/pod_requests.h"
#include "node/agent/container_env.h"
#include "node/system/limits.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace codeflare::node {

namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::string_view kMessagePath = "/dev/termination-log";
constexpr const char* kConfigError = "CreateContainerConfigError";

// The result of `read` for the member; nothing when there is none.
template <typename Read>
auto member_of(const model::RawJson& object, std::string_view name, Read read)
    -> decltype(read(std::declval<const json::Value&>())) {
  if (object.empty()) {
    return std::nullopt;
  }
  const Result<json::Document> document = json::parse(object.text);
  const json::Value* found = document ? document->root.find(name) : nullptr;
  return found == nullptr ? std::nullopt : read(*found);
}

std::optional<std::int64_t> number_in(const model::RawJson& object, std::string_view name) {
  return member_of(object, name, [](const json::Value& value) {
    return value.is_number() ? value.to_int64() : std::nullopt;
  });
}

std::optional<bool> flag_in(const model::RawJson& object, std::string_view name) {
  return member_of(object, name, [](const json::Value& value) {
    return value.is_boolean() ? std::optional(value.as_bool()) : std::nullopt;
  });
}

// The container's own word counts before the pod's.
std::optional<std::int64_t> security_id(const model::Pod& pod, const model::Container& container,
                                        std::string_view name) {
  const auto own = number_in(container.security_context, name);
  return own ? own : number_in(pod.spec.security_context, name);
}

// The image's user counts where neither says one.
std::optional<std::int64_t> user_of(const model::Pod& pod, const model::Container& container,
                                    const ImageEntry& image) {
  const auto said = security_id(pod, container, "runAsUser");
  return said ? said : image.user;
}

// A container that must not run as root and would: a kubelet's words for it.
std::optional<StartProblem> root_problem(const model::Pod& pod, const model::Container& container,
                                         const ImageEntry& image) {
  const auto own = flag_in(container.security_context, "runAsNonRoot");
  const auto user = security_id(pod, container, "runAsUser");
  if (!(own ? *own : flag_in(pod.spec.security_context, "runAsNonRoot").value_or(false)) ||
      (user ? *user : image.user.value_or(0)) != 0) {
    return std::nullopt;
  }
  const std::string what = user ? "container's runAsUser breaks non-root policy"
                                : "container has runAsNonRoot and image will run as root";
  return StartProblem{kConfigError, what + " (pod: \"" + pod.metadata.name + "_" + pod.metadata.ns +
                                        "(" + pod.metadata.uid +
                                        ")\", container: " + container.name + ")"};
}

bool is_read_only_volume(const model::Pod& pod, const std::string& name) {
  const auto found = std::ranges::find(pod.spec.volumes, name, &model::Volume::name);
  if (found == pod.spec.volumes.end()) {
    return false;
  }
  return found->config_map || found->secret || found->downward_api || found->projected ||
         (found->persistent_volume_claim && found->persistent_volume_claim->read_only);
}

// A volume over the root or the process table would take away what the container itself needs, and
// could show programs a process table of its writer's making.
bool may_hold_volume(std::string_view mount_path) {
  const std::filesystem::path path = (std::filesystem::path("/") / mount_path).lexically_normal();
  const std::string first = path.has_relative_path() ? path.relative_path().begin()->string() : "";
  return !first.empty() && first != "." && first != "proc";
}

Result<std::vector<MountSpec>> mounts_of(const model::Pod& pod, const model::Container& container,
                                         const VariableMap& variables) {
  std::vector<MountSpec> mounts;
  for (const model::VolumeMount& mount : container.volume_mounts) {
    const std::string sub =
        mount.sub_path_expr.empty() ? mount.sub_path : expand(mount.sub_path_expr, variables);
    if (sub.starts_with('/') || sub == ".." || sub.starts_with("../") ||
        sub.find("/../") != std::string::npos || sub.ends_with("/..")) {
      return fail(invalid_argument("subPath \"" + sub + "\" of volume " + mount.name +
                                   " leaves the volume"));
    }
    if (!may_hold_volume(mount.mount_path)) {
      return fail(invalid_argument("volume " + mount.name + " cannot be mounted at " +
                                   mount.mount_path + ": choose a path other than / or /proc"));
    }
    mounts.push_back({.source = "volumes/" + mount.name + (sub.empty() ? "" : "/" + sub),
                      .target = mount.mount_path,
                      .read_only = mount.read_only || is_read_only_volume(pod, mount.name)});
  }
  return mounts;
}

std::string visible_devices(const std::vector<DeviceGrant>& devices, const std::string& container,
                            bool& any) {
  std::string text;
  for (const DeviceGrant& grant : devices) {
    any = any || grant.resource == "nvidia.com/gpu";
    if (grant.container == container && grant.resource == "nvidia.com/gpu") {
      for (std::int32_t id : grant.ids) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
      }
    }
  }
  return text;
}

std::string hostname_of(const model::Pod& pod) {
  return (pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname).substr(0, 63);
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) {
    list.push_back(text);
  }
}

void add_missing(VariableMap& variables, const VariableMap& defaults) {
  variables.insert(defaults.begin(), defaults.end());
}

}  // namespace

std::optional<StartProblem> image_problem(const model::Container& container,
                                          const ImageTable& images, bool required) {
  const ImageEntry* image = images.find(container.image);
  const bool never = container.image_pull_policy == "Never";
  const bool has_command = !container.command.empty() && (image != nullptr || !(required || never));
  if (has_command || (image != nullptr && !image->entrypoint.empty()) ||
      (image != nullptr && !(container.args.empty() && image->args.empty()))) {
    return std::nullopt;
  }
  if (image != nullptr) {
    return StartProblem{"CreateContainerError", "image \"" + container.image +
                                                    "\" has no entrypoint here and the container "
                                                    "has no command: give it one"};
  }
  if (never) {
    return StartProblem{"ErrImageNeverPull",
                        "image \"" + container.image +
                            "\" is not on this node and its pull policy is Never: load it with "
                            "codeflare image load"};
  }
  return StartProblem{"ErrImagePull",
                      "no local files are mapped to it: codeflare image add '" + container.image +
                          "' --python-venv DIR (or --rootfs DIR), or " +
                          (required ? "leave the image out" : "give the container a command") +
                          " to run this machine's programs"};
}

std::expected<ContainerSpec, StartProblem> container_spec(const ContainerSources& sources,
                                                          const model::Container& container,
                                                          std::int32_t attempt) {
  const model::Pod& pod = sources.pod;
  const bool required =
      model::find_or_empty(pod.metadata.annotations, model::kImageRequiredAnnotation) == "true";
  if (auto problem = image_problem(container, sources.images, required)) {
    return std::unexpected(*std::move(problem));
  }
  static const ImageEntry kNone;
  const ImageEntry* found = sources.images.find(container.image);
  const ImageEntry& image = found == nullptr ? kNone : *found;
  if (auto problem = root_problem(pod, container, image)) {
    return std::unexpected(*std::move(problem));
  }
  Result<VariableMap> variables = container_variables(pod, container, sources.inputs);
  if (!variables) {
    return std::unexpected(StartProblem{kConfigError, variables.error().message});
  }
  ContainerSpec spec{.name = container.name, .attempt = attempt};
  bool has_devices = false;
  const std::string devices = visible_devices(sources.devices, container.name, has_devices);
  if (has_devices) {
    variables->insert_or_assign("CUDA_VISIBLE_DEVICES", devices);
  }
  add_missing(*variables, image.env);
  add_missing(*variables, {{"PATH", kPath}, {"HOSTNAME", hostname_of(pod)}, {"HOME", "/root"}});
  const auto& first = container.command.empty() ? image.entrypoint : container.command;
  const bool own_args = !container.command.empty() || !container.args.empty();
  for (const auto* part : {&first, own_args ? &container.args : &image.args}) {
    for (const std::string& word : *part) {
      spec.command.push_back(expand(word, *variables));
    }
  }
  Result<std::vector<MountSpec>> mounts = mounts_of(pod, container, *variables);
  if (!mounts) {
    return std::unexpected(StartProblem{kConfigError, mounts.error().message});
  }
  spec.mounts = *std::move(mounts);
  for (const auto& [name, value] : *variables) {
    spec.environment.push_back(name + "=" + value);
  }
  spec.working_directory = container.working_dir.empty() ? image.workdir : container.working_dir;
  spec.run_as_user = user_of(pod, container, image);
  spec.run_as_group = security_id(pod, container, "runAsGroup");
  if (!spec.run_as_group && spec.run_as_user == image.user) {
    spec.run_as_group = image.group;
  }
  const ResourceBounds bounds = bounds_of(container);
  spec.memory_limit = bounds.memory_limit;
  spec.cpu_limit_milli = bounds.cpu_limit_milli;
  spec.cpu_request_milli = bounds.cpu_request_milli;
  spec.oom_score =
      oom_score_of(pod.spec, container, sources.inputs.allocatable.get("memory").value());
  spec.root = image.root;
  spec.read_only_root =
      flag_in(container.security_context, "readOnlyRootFilesystem").value_or(false);
  spec.message_path = container.termination_message_path.empty()
                          ? std::string(kMessagePath)
                          : container.termination_message_path;
  spec.input = container.stdin;
  spec.input_once = container.stdin_once;
  spec.terminal = container.tty;
  spec.message_from_log = container.termination_message_policy == "FallbackToLogsOnError";
  return spec;
}

std::vector<std::string> sidecars_of(const model::Pod& pod) {
  std::vector<std::string> names;
  for (const model::Container& container : pod.spec.init_containers) {
    if (model::is_sidecar(container)) {
      names.push_back(container.name);
    }
  }
  return names;
}

Duration grace_of(const model::Pod& pod) {
  return std::chrono::seconds(
      std::max<std::int64_t>(pod.spec.termination_grace_period_seconds.value_or(30), 0));
}

std::vector<std::int64_t> users_of(const model::Pod& pod, const ImageTable& images) {
  std::vector<std::int64_t> users;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const model::Container& container : *list) {
      const ImageEntry* image = images.find(container.image);
      const std::int64_t user =
          user_of(pod, container, image == nullptr ? ImageEntry() : *image).value_or(0);
      if (user != 0 && std::ranges::find(users, user) == users.end()) {
        users.push_back(user);
      }
    }
  }
  return users;
}

SandboxSpec sandbox_spec(const model::Pod& pod, const ImageTable& images) {
  SandboxSpec spec{
      .ns = pod.metadata.ns,
      .name = pod.metadata.name,
      .uid = pod.metadata.uid,
      .hostname = hostname_of(pod),
      .grace_seconds = std::chrono::duration_cast<std::chrono::seconds>(grace_of(pod)).count(),
      .sidecars = sidecars_of(pod)};
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const model::Container& container : *list) {
      const ImageEntry* image = images.find(container.image);
      if (image == nullptr) {
        continue;
      }
      for (const std::string& directory : image->directories) {
        add_once(spec.directories, directory);
      }
      if (!image->root.empty()) {
        add_once(spec.roots, image->root);
      }
    }
  }
  return spec;
}

}  // namespace codeflare::node
