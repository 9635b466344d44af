#include "json/parse.h"
#include "json/write.h"
#include "model/codec/container.h"
#include "model/codec/placement.h"
#include "model/codec/volume.h"
#include "platform/archetype.h"
#include "platform/words.h"
#include "sdk/gang_job.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace codeflare::platform {

namespace {

template <typename T>
model::RawJson list_of(const std::vector<T>& items) {
  if (items.empty()) {
    return {};
  }
  std::string text = "[";
  for (const T& item : items) {
    text += (text.size() == 1 ? "" : ",") + model::to_json_text(item);
  }
  return {text + "]"};
}

model::SelectorExpression is_in(std::string key, const model::List<std::string>& values) {
  model::SelectorExpression expression;
  expression.key = std::move(key);
  expression.op = "In";
  expression.values = values;
  return expression;
}

model::NodeSelectorTerm term_of(const model::RunPolicyPlacement& placement) {
  model::NodeSelectorTerm term;
  if (!placement.zones.empty()) {
    term.match_expressions.push_back(is_in("topology.kubernetes.io/zone", placement.zones));
  }
  if (!placement.regions.empty()) {
    term.match_expressions.push_back(is_in("topology.kubernetes.io/region", placement.regions));
  }
  for (const auto& [key, value] : placement.node_labels) {
    term.match_expressions.push_back(is_in(key, model::List<std::string>{value}));
  }
  return term;
}

std::optional<model::Affinity> affinity_of(const model::RunPolicyPlacement& placement) {
  model::NodeSelectorTerm term = term_of(placement);
  if (term.match_expressions.empty()) {
    return std::nullopt;
  }
  model::Affinity affinity;
  model::NodeAffinity& nodes = affinity.node_affinity.emplace();
  if (placement.preferred) {
    model::PreferredSchedulingTerm preferred;
    preferred.weight = 100;
    preferred.preference = std::move(term);
    nodes.preferred.push_back(std::move(preferred));
  } else {
    nodes.required.emplace().node_selector_terms.push_back(std::move(term));
  }
  return affinity;
}

json::Value security_context(json::Arena& arena, const model::RunSecurityContext& context) {
  json::Value value = json::Value::object();
  const auto set = [&](std::string_view key, const std::optional<std::int64_t>& number) {
    if (number) {
      value.set_static(arena, key, json::Value::integer(arena, *number));
    }
  };
  set("runAsUser", context.run_as_user);
  set("runAsGroup", context.run_as_group);
  set("fsGroup", context.fs_group);
  return value;
}

// The Pod Security Standard "restricted" needs these fields spelled out. They take nothing from a
// user other than root: such a process has no capabilities to lose.
void restrict_pod(json::Arena& arena, json::Value& pod_security) {
  json::Value seccomp = json::Value::object();
  seccomp.set_static(arena, "type", json::Value::string_view_of("RuntimeDefault"));
  pod_security.set_static(arena, "runAsNonRoot", json::Value::boolean(true));
  pod_security.set_static(arena, "seccompProfile", seccomp);
}

void restrict_container(json::Arena& arena, json::Value& container) {
  json::Value all = json::Value::array();
  all.push_back(arena, json::Value::string_view_of("ALL"));
  json::Value capabilities = json::Value::object();
  capabilities.set_static(arena, "drop", all);
  json::Value security = json::Value::object();
  security.set_static(arena, "allowPrivilegeEscalation", json::Value::boolean(false));
  security.set_static(arena, "capabilities", capabilities);
  container.set_static(arena, "securityContext", security);
}

// Of the program's container, which is the first.
void add_secret_env(json::Arena& arena, json::Value& pod_spec, const Program& program) {
  json::Value* containers = pod_spec.find("containers");
  if (program.parts.secret_env.empty() || containers == nullptr || containers->items().empty()) {
    return;
  }
  json::Value& container = containers->items().front();
  if (container.string_or_empty("name") == kSubmitterContainer) {
    return;  // runs nothing of the Application
  }
  json::Value env = json::Value::array();
  if (const json::Value* known = container.find("env")) {
    for (const json::Value& each : known->items()) {
      const std::string_view name = each.string_or_empty("name");
      if (std::ranges::find(program.parts.secret_env, name, &model::EnvVar::name) ==
          program.parts.secret_env.end()) {
        env.push_back(arena, each);
      }
    }
  }
  for (const model::EnvVar& each : program.parts.secret_env) {
    env.push_back(arena, model::to_json(arena, each));
  }
  container.set_static(arena, "env", env);
}

// The program's command behind the words that wrap it.
void wrap_command(json::Arena& arena, json::Value& pod_spec, const Program& program) {
  if (program.parts.wrapper_command.empty()) {
    return;
  }
  json::Value& container = pod_spec.find("containers")->items().front();
  json::Value words = json::Value::array();
  for (const std::string& word : program.parts.wrapper_command) {
    words.push_back(arena, json::Value::string(arena, sdk::literal_word(word)));
  }
  for (const json::Value& word : container.find("command")->items()) {
    words.push_back(arena, word);
  }
  container.set_static(arena, "command", words);
}

}  // namespace

model::StringMap amounts_of(const RunResources& resources) {
  model::StringMap amounts;
  if (resources.cpu) {
    amounts.emplace("cpu", resources.cpu->to_string());
  }
  if (resources.memory) {
    amounts.emplace("memory", resources.memory->to_string());
  }
  if (resources.gpu > 0) {
    amounts.emplace("nvidia.com/gpu", std::to_string(resources.gpu));
  }
  return amounts;
}

std::string without_python(std::string_view command) {
  const auto skip_blanks = [&] {
    while (!command.empty() && std::isspace(static_cast<unsigned char>(command.front())) != 0) {
      command.remove_prefix(1);
    }
  };
  skip_blanks();
  const std::size_t end = std::min(command.find_first_of(" \t\n"), command.size());
  std::string_view first = command.substr(0, end);
  if (first.starts_with("python") && end < command.size() &&
      first.find_first_not_of("0123456789.", 6) == std::string_view::npos) {
    command.remove_prefix(end);
    skip_blanks();
  }
  return std::string(command);
}

void finish_pod(json::Arena& arena, json::Value& pod_spec, const Program& program) {
  const auto& security = program.spec.security_context;
  const bool restricted = security && security->run_as_user.value_or(0) != 0;
  for (const std::string_view list : {"initContainers", "containers"}) {
    json::Value* containers = pod_spec.find(list);
    for (json::Value& container :
         containers == nullptr ? std::span<json::Value>() : containers->items()) {
      container.set_static(arena, "terminationMessagePolicy",
                           json::Value::string_view_of("FallbackToLogsOnError"));
      if (restricted) {
        restrict_container(arena, container);
      }
    }
  }
  add_secret_env(arena, pod_spec, program);
  if (security) {
    json::Value pod_security = security_context(arena, *security);
    if (restricted) {
      restrict_pod(arena, pod_security);
    }
    pod_spec.set_static(arena, "securityContext", pod_security);
  }
  if (program.placement) {
    if (const auto affinity = affinity_of(*program.placement)) {
      pod_spec.set_static(arena, "affinity", model::to_json(arena, *affinity));
    }
  }
}

Result<json::Document> gang_of(const Program& program) {
  const bool torch = program.spec.api == "torch";
  sdk::GangJob gang;
  gang.name = program.parts.name;
  gang.labels = program.labels;
  gang.image = program.spec.image;
  if (!program.spec.image_pull_secret.empty()) {
    gang.pull_secrets = {program.spec.image_pull_secret};
  }
  if (torch) {
    TRY_ASSIGN(gang.argv, split_words(without_python(program.spec.command)));
  } else {
    gang.argv = {"sh", "-c", program.spec.command + " \"$@\"", "sh"};
  }
  gang.argv.insert(gang.argv.end(), program.words.begin(), program.words.end());
  gang.env = program.parts.env;
  gang.workdir = program.parts.workdir;
  gang.pods = std::max(program.resources.workers, 1);
  gang.processes_per_pod = torch ? std::max(program.resources.gpu, 1) : 1;
  gang.resources = amounts_of(program.resources);
  gang.torchrun = torch;
  gang.shared_memory = torch;
  gang.volumes = list_of(program.parts.volumes);
  gang.volume_mounts = list_of(program.parts.mounts);
  gang.init_containers = list_of(program.parts.init_containers);
  gang.backoff_limit = program.retries;
  gang.priority_class = program.priority_class;
  if (program.placement && !program.placement->tolerations.empty()) {
    gang.tolerations =
        list_of(static_cast<const std::vector<model::Toleration>&>(program.placement->tolerations));
  }
  TRY(sdk::check(gang));
  json::Document objects = sdk::gang_objects(gang);
  for (json::Value& object : objects.root.items()) {
    if (object.string_or_empty("kind") == "Job") {
      json::Value* pod = object.find("spec")->find("template")->find("spec");
      finish_pod(objects.arena, *pod, program);
      wrap_command(objects.arena, *pod, program);
    }
  }
  return objects;
}

}  // namespace codeflare::platform
