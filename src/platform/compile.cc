#include "platform/compile.h"

#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/validation.h"
#include "platform/archetype.h"
#include "platform/command_line.h"
#include "platform/limits.h"
#include "platform/names.h"
#include "platform/pod_parts.h"
#include "platform/policy.h"
#include "platform/progress_pattern.h"
#include "platform/resources.h"
#include "platform/sizes.h"
#include "platform/words.h"
#include "sdk/gang_job.h"
#include "sdk/program_image.h"

#include <algorithm>
#include <utility>

namespace codeflare::platform {

namespace {

constexpr std::size_t kNameMax = 63;
constexpr std::int32_t kLow = -100;
constexpr std::int32_t kHigh = 100;

class Compilation {
 public:
  Compilation(const CompileInput& input, const CompileOptions& options)
      : input_(input), run_(input.run), options_(options) {}

  Compiled compile() {
    if (run_.metadata.name.size() > kNameMax) {
      problems_.add("metadata.name", "the name has " + std::to_string(run_.metadata.name.size()) +
                                         " characters, at most " + std::to_string(kNameMax) +
                                         " are possible");
    }
    if (check_application()) {
      compile_program(*input_.application);
    }
    result_.problems = problems_.take();
    return std::move(result_);
  }

  RunPriority priority() {
    const Policies policies = policies_of();
    std::string priority_class;
    const std::int32_t value = resolve_priority(policies, priority_class);
    check_limits(policies, result_.effective, problems_);
    return {.value = value, .problems = problems_.take()};
  }

 private:
  Policies policies_of() const {
    return {input_.policies,
            {.application = application_of(run_), .namespace_labels = input_.namespace_labels}};
  }

  bool check_application() {
    const model::ObjectKey key = application_of(run_);
    const std::string shown = "Application " + key.ns + "/" + key.name;
    if (!input_.application) {
      problems_.add(
          {.field = "spec.application", .text = shown + " does not exist", .missing = true});
      return false;
    }
    if (!allows(input_.application->spec.allowed_namespaces, key.ns, run_.metadata.ns)) {
      problems_.add("spec.application", shown + " does not allow namespace " + run_.metadata.ns +
                                            "; its owner can add it to spec.allowedNamespaces");
      return false;
    }
    return true;
  }

  void note(std::string name, std::string value, std::string from) {
    result_.effective.push_back(
        {.name = std::move(name), .value = std::move(value), .from = std::move(from), .extra = {}});
  }
  void note(const std::vector<model::EffectiveValue>& values) {
    result_.effective.insert(result_.effective.end(), values.begin(), values.end());
  }

  void compile_program(const model::Application& application) {
    const Policies policies = policies_of();
    check_schema(application, problems_);
    result_.api = application.spec.api;
    note("api", application.spec.api, name_of(application));
    note("image", application.spec.image, name_of(application));
    note("command", application.spec.command, name_of(application));
    if (application.spec.progress) {
      check_progress(application, problems_);
      note("progress.pattern", application.spec.progress->pattern, name_of(application));
    }
    if (!application.spec.repo.empty()) {
      note("repo", application.spec.repo, name_of(application));
    }
    if (application.spec.repo_secret) {
      note("repoSecret", application.spec.repo_secret->name, name_of(application));
    }
    CommandLine line = command_line(application, run_, problems_);
    note(line.effective);
    RunResources resources =
        run_resources(application, run_, size_table(input_.sizes), policies, problems_);
    note(resources.effective);
    result_.size = resources.size;
    Program program{.spec = application.spec,
                    .words = std::move(line.words),
                    .resources = std::move(resources),
                    .parts = parts_of(application),
                    .labels = {{std::string(kRunLabel), run_.metadata.name},
                               {std::string(kApplicationLabel), application.metadata.name}},
                    .retries = number("retries", run_.spec.retries,
                                      policies.default_of(&model::RunPolicyDefaults::retries), 0),
                    .priority_class = {},
                    .placement = {}};
    const std::int32_t priority = resolve_priority(policies, program.priority_class);
    if (const model::RunPolicy* placing = policies.placement()) {
      program.placement = placing->spec.placement;
      note("placement", placing->spec.placement->preferred ? "preferred" : "required",
           name_of(*placing));
    }
    resolve_times(policies);
    check_limits(policies, result_.effective, problems_);
    check_texts(program);
    if (problems_.empty()) {
      make_wrapper(application, program, priority);
    }
  }

  PodParts parts_of(const model::Application& application) {
    PodParts parts{.name = wrapper_name(run_.metadata),
                   .program_image = options_.program_image.empty()
                                        ? "codeflare:" + std::string(sdk::version())
                                        : options_.program_image};
    const auto set = [&](const model::StringMap& env, const std::string& from) {
      for (const auto& [name, value] : env) {
        parts.env.insert_or_assign(name, value);
        if (from == "run" || !run_.spec.env.contains(name)) {
          note("env." + name, value, from);
        }
      }
    };
    add_code(application, options_.git_image, parts, problems_);
    const std::vector<InputUse> uses = inputs_of(application, run_, problems_);
    for (const InputUse& use : uses) {
      note("inputs[" + std::to_string(use.index) + "]", use.data_set.ns + "/" + use.data_set.name,
           run_.spec.input.empty() ? name_of(application) : "run");
    }
    add_inputs(uses, application, run_, input_.data_sets, parts, problems_);
    set(application.spec.env, name_of(application));
    set(run_.spec.env, "run");
    add_requirements(application, parts);
    return parts;
  }

  template <typename T>
  T number(const std::string& field, const std::optional<T>& of_run,
           const std::optional<Policies::Found<T>>& of_policy, T built_in) {
    const T value = of_run ? *of_run : of_policy ? of_policy->value : built_in;
    note(field, std::to_string(value),
         of_run      ? "run"
         : of_policy ? of_policy->from
                     : std::string("built-in"));
    return value;
  }

  std::int32_t resolve_priority(const Policies& policies, std::string& priority_class) {
    std::string level = run_.spec.priority;
    std::string from = "run";
    if (level.empty()) {
      const auto found = policies.default_of(&model::RunPolicyDefaults::priority);
      level = found ? found->value : "normal";
      from = found ? found->from : "built-in";
    }
    if (level != "low" && level != "normal" && level != "high") {
      problems_.add("spec.priority", "'" + level + "' is not one of low, normal and high");
    }
    note("priority", level, from);
    if (const auto meaning = policies.priority_of(level)) {
      priority_class = meaning->value.priority_class_name;
      note("priority.value", std::to_string(meaning->value.value), meaning->from);
      return meaning->value.value;
    }
    const std::int32_t value = level == "low" ? kLow : level == "high" ? kHigh : 0;
    note("priority.value", std::to_string(value), "built-in");
    return value;
  }

  // The default of the policies. A limit would not hold a Run without a deadline: such a Run gets
  // the longest deadline that the limit allows.
  static std::optional<Policies::Found<std::int64_t>> default_deadline(const Policies& policies) {
    if (auto found = policies.default_of(&model::RunPolicyDefaults::active_deadline_seconds)) {
      return found;
    }
    const auto bounds = policies.bounds_of("activeDeadlineSeconds");
    if (!bounds || !bounds->value.maximum) {
      return std::nullopt;
    }
    const model::Quantity& maximum = *bounds->value.maximum;
    const std::int64_t seconds = maximum.sign() > 0 ? maximum.divided_by(model::Quantity(1)) : 0;
    return Policies::Found<std::int64_t>{std::max<std::int64_t>(seconds, 1), bounds->from};
  }

  void resolve_times(const Policies& policies) {
    const auto time = [&](const char* field, const std::optional<std::int64_t>& of_run,
                          const std::optional<Policies::Found<std::int64_t>>& of_policy) {
      return of_run || of_policy ? std::optional(number<std::int64_t>(field, of_run, of_policy, 0))
                                 : std::nullopt;
    };
    deadline_ = time("activeDeadlineSeconds", run_.spec.active_deadline_seconds,
                     default_deadline(policies));
    time("ttlSecondsAfterFinished", run_.spec.ttl_seconds_after_finished,
         policies.default_of(&model::RunPolicyDefaults::ttl_seconds_after_finished));
    if (run_.spec.expected_seconds) {
      note("expectedSeconds", std::to_string(*run_.spec.expected_seconds), "run");
    }
  }

  // No process can be given these.
  void check_texts(const Program& program) {
    if (std::ranges::any_of(program.words, [](const auto& w) { return w.contains('\0'); })) {
      problems_.add("spec.options", "a word has a NUL character, which no command line can hold");
    }
    for (const auto& [name, value] : program.parts.env) {
      const bool of_run = run_.spec.env.contains(name);
      if (name.empty() || name.contains('=') || name.contains('\0') || value.contains('\0')) {
        problems_.add({.object = of_run ? "" : name_of(*input_.application),
                       .field = "spec.env." + name,
                       .text = "names have no =, and neither names nor values NUL characters"});
      }
    }
  }

  void make_wrapper(const model::Application& application, const Program& program,
                    std::int32_t priority) {
    Result<json::Document> objects = objects_of(application, program);
    if (!objects) {
      problems_.add(
          {.object = name_of(application), .field = "spec", .text = objects.error().message});
      return;
    }
    for (const model::ConfigMap& each : program.parts.config_maps) {
      model::ConfigMap files = each;
      files.metadata.labels = program.labels;
      objects->root.insert(objects->arena, 0, model::to_json(objects->arena, files));
    }
    model::StringMap labels = run_.metadata.labels;
    for (const auto& [key, value] : program.labels) {
      labels.insert_or_assign(key, value);
    }
    const json::Document wrapped = sdk::wrap({.name = program.parts.name,
                                              .ns = run_.metadata.ns,
                                              .labels = std::move(labels),
                                              .priority = priority,
                                              .limit_seconds = deadline_.value_or(0),
                                              .suspended = run_.spec.suspend},
                                             objects->root);
    Result<model::AppWrapper> wrapper = model::from_json<model::AppWrapper>(wrapped.root);
    if (!wrapper) {
      problems_.add("spec", wrapper.error().message);
      return;
    }
    result_.wrapper = *std::move(wrapper);
    if (run_.spec.expected_seconds) {
      model::SchedulingSpec& scheduling = result_.wrapper.spec.scheduling_spec
                                              ? *result_.wrapper.spec.scheduling_spec
                                              : result_.wrapper.spec.scheduling_spec.emplace();
      if (!scheduling.dispatch_duration) {
        scheduling.dispatch_duration.emplace();
      }
      scheduling.dispatch_duration->expected = *run_.spec.expected_seconds;
    }
    own(result_.wrapper);
  }

  Result<json::Document> objects_of(const model::Application& application, const Program& program) {
    const std::string& api = application.spec.api;
    if (api == "shell" || api == "torch") {
      return gang_of(program);
    }
    if (api == "ray") {
      return ray_job_of(program);
    }
    return fail(invalid_argument("api '" + api + "' is not one of shell, torch and ray"));
  }

  void own(model::AppWrapper& wrapper) const {
    if (run_.metadata.uid.empty()) {
      return;  // compiled from a file
    }
    model::OwnerReference owner;
    owner.api_version = model::ResourceTraits<model::Run>::api_version;
    owner.kind = model::ResourceTraits<model::Run>::kind;
    owner.name = run_.metadata.name;
    owner.uid = run_.metadata.uid;
    owner.controller = true;
    owner.block_owner_deletion = true;
    wrapper.metadata.owner_references.push_back(std::move(owner));
  }

  const CompileInput& input_;
  const model::Run& run_;
  const CompileOptions& options_;
  Problems problems_;
  Compiled result_;
  std::optional<std::int64_t> deadline_;
};

}  // namespace

Compiled compile(const CompileInput& input, const CompileOptions& options) {
  return Compilation(input, options).compile();
}

RunPriority priority_of(const CompileInput& input) {
  return Compilation(input, {}).priority();
}

model::ObjectKey application_of(const model::Run& run) {
  const model::ApplicationReference& reference = run.spec.application;
  return {reference.ns.empty() ? run.metadata.ns : reference.ns, reference.name};
}

std::vector<model::ObjectKey> data_sets_of(const model::Application& application,
                                           const model::Run& run) {
  Problems ignored;
  std::vector<model::ObjectKey> keys;
  for (const InputUse& use : inputs_of(application, run, ignored)) {
    keys.push_back(use.data_set);
  }
  return keys;
}

}  // namespace codeflare::platform
