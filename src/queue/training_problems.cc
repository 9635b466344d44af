#include "model/validation.h"
#include "queue/clusters.h"
#include "queue/kinds/problems.h"
#include "queue/training_work.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <utility>

// Mistakes in a TrainingJob, in words that name field, numbers and fix.
namespace codeflare::queue {

namespace {

// Pods are called <job>-worker-<n>, and n has up to six digits.
constexpr std::string_view kPodSuffix = "-worker-999999";
constexpr std::int64_t kSizeMax = 100'000;

std::string text(std::int64_t number) {
  return std::to_string(number);
}

class TrainingCheck {
 public:
  TrainingCheck(const model::TrainingJob& job, const TrainingOptions& options)
      : job_(job), spec_(job.spec), options_(options) {}

  std::vector<std::string> run() {
    check_name();
    check_bounds();
    check_sizes();
    check_words();
    check_numbers();
    check_injection();
    check_containers();
    check_clusters();
    return std::move(problems_);
  }

 private:
  void add(const std::string& field, const std::string& problem) {
    problems_.push_back(field + ": " + problem);
  }

  void check_name() {
    const std::string& name = job_.metadata.name;
    const std::size_t most = model::kLabelValueLengthMax - kPodSuffix.size();
    if (name.size() > most) {
      add("metadata.name", "has " + std::to_string(name.size()) + " characters; use at most " +
                               std::to_string(most) + ", so that JOB-worker-N is a host name");
    } else if (!model::check_dns1035_label(name).empty()) {
      add("metadata.name", "\"" + name +
                               "\" is not a DNS-1035 label; begin with a letter and use lower "
                               "case letters, digits and '-'");
    }
  }

  void check_clusters() {
    Problems problems;
    static_cast<void>(cluster_rule_of(job_.metadata, problems));
    for (const std::string& each : problems.found()) {
      problems_.push_back(each);
    }
  }

  void check_bounds() {
    const std::int64_t min = spec_.min_size.value_or(1);
    if (spec_.min_size && min < 1) {
      add("spec.minSize", "is " + text(min) + "; use 1 or more");
    }
    if (spec_.max_size && *spec_.max_size < min) {
      add("spec.maxSize", "is " + text(*spec_.max_size) + ", below minSize " + text(min) +
                              "; use " + text(min) + " or more");
    }
    if (spec_.max_size && *spec_.max_size > kSizeMax) {
      add("spec.maxSize", "is " + text(*spec_.max_size) + "; use at most " + text(kSizeMax));
    }
    if (spec_.desired_size && *spec_.desired_size < 1) {
      add("spec.desiredSize",
          "is " + text(*spec_.desired_size) +
              "; use 1 or more, or set runPolicy.suspend to true to stop the job");
    }
  }

  void check_sizes() {
    const std::int64_t min = spec_.min_size.value_or(spec_.sizes.empty() ? 1 : spec_.sizes.front());
    const std::int64_t max =
        spec_.max_size.value_or(spec_.sizes.empty() ? min : spec_.sizes.back());
    if (!spec_.sizes.empty()) {
      check_list(min, max);
    }
    if (!spec_.size_step) {
      return;
    }
    const std::int64_t step = *spec_.size_step;
    if (step < 1) {
      add("spec.sizeStep", "is " + text(step) + "; use 1 or more");
      return;
    }
    if (!spec_.sizes.empty()) {
      add("spec.sizeStep", "cannot be combined with spec.sizes; remove one of the two");
    }
    for (const auto& [field, size] : {std::pair("minSize", min), std::pair("maxSize", max)}) {
      if (size >= 1 && size % step != 0) {
        const std::int64_t below = size / step * step;
        add("spec.sizeStep", "is " + text(step) + ", which does not divide " + field + " " +
                                 text(size) + "; use " + (below > 0 ? text(below) + " or " : "") +
                                 text(below + step) + " for " + field);
      }
    }
  }

  void check_list(std::int64_t min, std::int64_t max) {
    for (std::size_t i = 0; i < spec_.sizes.size(); ++i) {
      const std::int64_t size = spec_.sizes[i];
      const std::string field = "spec.sizes[" + std::to_string(i) + "]";
      if (size < 1) {
        add(field, "is " + text(size) + "; use 1 or more");
      } else if (i > 0 && size <= spec_.sizes[i - 1]) {
        add(field, "is " + text(size) + " after " + text(spec_.sizes[i - 1]) +
                       "; list sizes in ascending order, each once");
      }
    }
    for (const auto& [field, size] : {std::pair("minSize", min), std::pair("maxSize", max)}) {
      if (std::ranges::find(spec_.sizes, size) == spec_.sizes.end()) {
        add("spec.sizes", "does not have " + std::string(field) + " " + text(size) +
                              "; add it or change " + field);
      }
    }
  }

  void check_word(const std::string& field, const std::string& value,
                  std::span<const std::string_view> allowed) {
    if (value.empty() || std::ranges::find(allowed, value) != allowed.end()) {
      return;
    }
    std::string words;
    for (const std::string_view word : allowed) {
      words += (words.empty() ? "" : ", ") + std::string(word);
    }
    add(field, "\"" + value + "\" is unknown; use one of " + words);
  }

  void check_words() {
    static constexpr std::array<std::string_view, 3> kFrameworks = {"pytorch", "tensorflow",
                                                                    "generic"};
    static constexpr std::array<std::string_view, 4> kRestarts = {"Always", "OnFailure", "Never",
                                                                  "ExitCode"};
    static constexpr std::array<std::string_view, 3> kCleaning = {"All", "Running", "None"};
    static constexpr std::array<std::string_view, 4> kBackends = {"kubernetes", "etcd", "c10d",
                                                                  "static"};
    static constexpr std::array<std::string_view, 4> kCheckpoints = {"remote", "s3", "local",
                                                                     "none"};
    check_word("spec.framework", spec_.framework, kFrameworks);
    check_word("spec.replicaSpecs.restartPolicy", spec_.replica_specs.restart_policy, kRestarts);
    check_word("spec.runPolicy.cleanPodPolicy", spec_.run_policy.clean_pod_policy, kCleaning);
    check_word("spec.elastic.rdzvBackend", spec_.elastic.rdzv_backend, kBackends);
    check_word("spec.checkpoint.type", spec_.checkpoint.type, kCheckpoints);
    if (const auto& nproc = spec_.nproc_per_node) {
      check_processes(*nproc);
    }
  }

  void check_processes(const model::IntOrString& nproc) {
    const std::string value = nproc.is_text ? nproc.text : std::to_string(nproc.number);
    const bool number = !value.empty() && value.size() < 6 &&
                        std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    if ((number && value != "0") || value == "auto" || value == "gpu" || value == "cpu") {
      return;
    }
    add("spec.nprocPerNode", "\"" + value + "\" is unknown; use auto, gpu, cpu or a number from 1");
  }

  template <typename Number>
  void check_least(const std::string& field, const std::optional<Number>& value,
                   std::int64_t least) {
    if (value && *value < least) {
      add(field, "is " + std::to_string(*value) + "; use " + text(least) + " or more");
    }
  }

  void check_numbers() {
    check_least("spec.runPolicy.backoffLimit", spec_.run_policy.backoff_limit, 0);
    check_least("spec.runPolicy.activeDeadlineSeconds", spec_.run_policy.active_deadline_seconds,
                1);
    check_least("spec.runPolicy.ttlSecondsAfterFinished",
                spec_.run_policy.ttl_seconds_after_finished, 0);
    check_least("spec.elastic.gracePeriodSeconds", spec_.elastic.grace_period_seconds, 0);
    check_least("spec.elastic.joinTimeoutSeconds", spec_.elastic.join_timeout_seconds, 1);
    check_least("spec.elastic.lastCallSeconds", spec_.elastic.last_call_seconds, 0);
    check_least("spec.elastic.scaleUpCooldownSeconds", spec_.elastic.scale_up_cooldown_seconds, 0);
    check_least("spec.elastic.maxRestarts", spec_.elastic.max_restarts, 0);
    check_least("spec.checkpoint.keep", spec_.checkpoint.keep, 1);
  }

  void check_injection() {
    const std::string& backend = spec_.elastic.rdzv_backend;
    if (spec_.inject_lattice && (backend == "c10d" || backend == "static")) {
      add("spec.injectLattice", "is true, but spec.elastic.rdzvBackend is " + backend +
                                    ", which agents cannot use; use kubernetes or etcd, or set "
                                    "injectLattice to false");
    }
  }

  void check_containers() {
    const std::string field = "spec.replicaSpecs.template.spec.containers";
    const auto& containers = spec_.replica_specs.pod_template.spec.containers;
    if (containers.empty()) {
      add(field, "is empty; add a container with the name trainingjob");
      return;
    }
    std::int64_t found = 0;
    std::set<std::string> names;
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const std::string at = field + "[" + std::to_string(i) + "]";
      if (!names.insert(containers[i].name).second && containers[i].name != kTrainingContainer) {
        add(at + ".name", "\"" + containers[i].name + "\" is used twice; rename one container");
      }
      if (containers[i].image.empty()) {
        add(at + ".image", "is empty; name an image");
      }
      if (containers[i].name == kTrainingContainer) {
        ++found;
        check_training_container(at, containers[i]);
      }
    }
    if (found != 1) {
      add(field,
          "has " + text(found) +
              " containers with the name trainingjob; name exactly one container trainingjob");
    }
  }

  void check_training_container(const std::string& at, const model::Container& container) {
    if (spec_.inject_lattice && container.command.empty()) {
      add(at + ".command",
          "is empty, but spec.injectLattice is true; write the program of the image here, because "
          "the operator cannot read it from the image");
    }
    if (options_.unit.empty() || options_.unit == kNodeUnit) {
      return;
    }
    const model::Quantity* request = container.resources.requests.find(options_.unit);
    const model::Quantity* limit = container.resources.limits.find(options_.unit);
    if (limit == nullptr || (request == nullptr && limit->is_zero())) {
      add(at + ".resources.limits[" + options_.unit + "]",
          "is missing, but the operator counts TrainingJobs in " + options_.unit +
              "; set the same whole number as request and limit");
      return;
    }
    if (request == nullptr || request->is_zero()) {
      add(at + ".resources.requests[" + options_.unit + "]",
          "is missing, but the operator counts TrainingJobs in " + options_.unit + "; set it to " +
              limit->to_string() + ", as the limit");
    } else if (*request != *limit) {
      add(at + ".resources.requests[" + options_.unit + "]",
          "is " + request->to_string() + " and the limit is " + limit->to_string() +
              "; set both to the same number");
    } else if (!request->exact_value()) {
      add(at + ".resources.requests[" + options_.unit + "]",
          "is " + request->to_string() + "; use a whole number");
    }
  }

  const model::TrainingJob& job_;
  const model::TrainingJobSpec& spec_;
  const TrainingOptions& options_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const model::TrainingJob& job,
                                     const TrainingOptions& options) {
  return TrainingCheck(job, options).run();
}

}  // namespace codeflare::queue
