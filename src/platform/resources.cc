#include "platform/resources.h"

#include "platform/command_line.h"

#include <algorithm>
#include <utility>

namespace codeflare::platform {

namespace {

using model::Quantity;

struct Choice {
  std::string size;
  std::string from;
  bool given = false;  // by a person, rather than found
};

// Why a size is below the Application's minima; empty when it is not.
std::string shortfall(const model::ApplicationSpec& spec, const model::RunSize& size) {
  const auto below = [](const std::optional<Quantity>& least, const std::optional<Quantity>& has,
                        const char* name) -> std::string {
    if (!least || (has && *has >= *least)) {
      return {};
    }
    return std::string(name) + " " + (has ? has->to_string() : std::string(kNone)) + ", at least " +
           least->to_string() + " needed";
  };
  std::string text = below(spec.min_cpu, size.cpu, "cpu");
  if (text.empty()) {
    text = below(spec.min_memory, size.memory, "memory");
  }
  if (text.empty() && size.gpu < spec.min_gpu.value_or(0)) {
    text = "gpu " + std::to_string(size.gpu) + ", at least " + std::to_string(*spec.min_gpu) +
           " needed";
  }
  return text;
}

// The smallest size from `first` on that meets the minima.
std::optional<std::string> smallest_fit(const model::ApplicationSpec& spec, const SizeTable& sizes,
                                        std::string_view first) {
  bool reached = false;
  for (const std::string_view name : sizes_in_order()) {
    reached = reached || name == first;
    const auto known = sizes.find(name);
    if (reached && known != sizes.end() && shortfall(spec, known->second.size).empty()) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

Choice choose_size(const model::Application& application, const model::Run& run,
                   const SizeTable& sizes, const Policies& policies) {
  if (!run.spec.size.empty()) {
    return {run.spec.size, "run", true};
  }
  if (!application.spec.size.empty()) {
    return {application.spec.size, name_of(application), true};
  }
  if (auto found = policies.default_of(&model::RunPolicyDefaults::size)) {
    return {found->value, found->from, true};
  }
  return {smallest_fit(application.spec, sizes, kDefaultSize).value_or(std::string(kDefaultSize)),
          "built-in", false};
}

// Where a person would look for the value.
Problem problem_of(const std::string& from, std::string field, std::string text) {
  return {.object = from == "run" || from == "built-in" ? "" : from,
          .field = std::move(field),
          .text = std::move(text)};
}

class Resolver {
 public:
  Resolver(const model::Application& application, const model::Run& run, const SizeTable& sizes,
           const Policies& policies, Problems& problems)
      : application_(application),
        run_(run),
        sizes_(sizes),
        policies_(policies),
        problems_(problems) {}

  RunResources resolve() {
    const Choice choice = choose_size(application_, run_, sizes_, policies_);
    const auto known = sizes_.find(choice.size);
    if (known == sizes_.end()) {
      std::string names;
      for (const auto& [name, size] : sizes_) {
        names += (names.empty() ? "" : ", ") + name;
      }
      problems_.add(problem_of(choice.from, "spec.size",
                               "size '" + choice.size + "' is unknown; known: " + names));
      return {};
    }
    result_.size = choice.size;
    note("size", choice.size, choice.from);
    const model::RunSize& size = known->second.size;
    result_.workers = pick("workers", run_.spec.workers, &model::RunPolicyDefaults::workers,
                           size.workers, known->second.from);
    result_.cpu = pick_amount("cpu", run_.spec.cpu, &model::RunPolicyDefaults::cpu, size.cpu,
                              known->second.from);
    result_.memory = pick_amount("memory", run_.spec.memory, &model::RunPolicyDefaults::memory,
                                 size.memory, known->second.from);
    resolve_gpu(size, known->second.from);
    check_minima(choice);
    return std::move(result_);
  }

 private:
  void note(std::string name, std::string value, std::string from) {
    result_.effective.push_back(
        {.name = std::move(name), .value = std::move(value), .from = std::move(from), .extra = {}});
  }

  std::int32_t pick(const std::string& field, const std::optional<std::int32_t>& of_run,
                    std::optional<std::int32_t> model::RunPolicyDefaults::* member,
                    std::int32_t of_size, const std::string& size_from) {
    std::int32_t value = of_size;
    std::string from = size_from;
    if (of_run) {
      value = *of_run;
      from = "run";
    } else if (auto found = policies_.default_of(member)) {
      value = found->value;
      from = found->from;
    }
    if (value < 0) {
      problems_.add(problem_of(from, "spec." + field,
                               std::to_string(value) + " is negative; write 0 or more"));
    }
    note(field, std::to_string(value), from);
    return value;
  }

  std::optional<Quantity> pick_amount(const std::string& field,
                                      const std::optional<Quantity>& of_run,
                                      std::optional<Quantity> model::RunPolicyDefaults::* member,
                                      const std::optional<Quantity>& of_size,
                                      const std::string& size_from) {
    std::optional<Quantity> value = of_size;
    std::string from = size_from;
    if (of_run) {
      value = of_run;
      from = "run";
    } else if (auto found = policies_.default_of(member)) {
      value = found->value;
      from = found->from;
    }
    if (value && value->sign() <= 0) {
      problems_.add(problem_of(from, "spec." + field,
                               value->to_string() + " is not more than 0; leave it out for the "
                                                    "amount of the size"));
      return std::nullopt;
    }
    note(field, value ? value->to_string() : std::string(kNone), from);
    return value;
  }

  void resolve_gpu(const model::RunSize& size, const std::string& size_from) {
    const bool both = run_.spec.supports_gpu && application_.spec.supports_gpu;
    if (!both) {
      if (run_.spec.gpu.value_or(0) > 0) {
        problems_.add("spec.gpu", run_.spec.supports_gpu
                                      ? name_of(application_) + " does not support GPUs"
                                      : "needs spec.supportsGpu: true");
      }
      note("gpu", "0",
           !application_.spec.supports_gpu ? name_of(application_) : std::string("run"));
      return;
    }
    result_.gpu = pick("gpu", run_.spec.gpu, &model::RunPolicyDefaults::gpu, size.gpu, size_from);
  }

  void check_minima(const Choice& choice) {
    const model::RunSize got{.workers = result_.workers,
                             .cpu = result_.cpu,
                             .memory = result_.memory,
                             .gpu = result_.gpu,
                             .extra = {}};
    const std::string wrong = shortfall(application_.spec, got);
    if (wrong.empty()) {
      return;
    }
    if (wrong.starts_with("gpu") && !(run_.spec.supports_gpu && application_.spec.supports_gpu)) {
      problems_.add("spec.supportsGpu", name_of(application_) + " needs at least " +
                                            std::to_string(*application_.spec.min_gpu) +
                                            " GPUs; set supportsGpu: true on Run and Application");
      return;
    }
    const auto fit = smallest_fit(application_.spec, sizes_, sizes_in_order().front());
    problems_.add(problem_of(
        choice.from, "spec.size",
        "size " + choice.size + " is too small for " + name_of(application_) + ": " + wrong +
            (fit ? "; the smallest size that fits is " + *fit
                 : std::string("; no size fits, set cpu and memory one by one"))));
  }

  const model::Application& application_;
  const model::Run& run_;
  const SizeTable& sizes_;
  const Policies& policies_;
  Problems& problems_;
  RunResources result_;
};

}  // namespace

RunResources run_resources(const model::Application& application, const model::Run& run,
                           const SizeTable& sizes, const Policies& policies, Problems& problems) {
  return Resolver(application, run, sizes, policies, problems).resolve();
}

}  // namespace codeflare::platform
