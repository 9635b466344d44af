#include "apiserver/kinds/cron_schedule.h"
#include "apiserver/kinds/job_policies.h"
#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "json/write.h"
#include "model/validation.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";

void default_job_spec(json::Arena& arena, json::Value& spec) {
  if (absent(spec, "parallelism")) {
    default_integer(arena, spec, "completions", 1);
    default_integer(arena, spec, "parallelism", 1);
  }
  default_integer(arena, spec, "backoffLimit",
                  absent(spec, "backoffLimitPerIndex")
                      ? 6
                      : std::int64_t{std::numeric_limits<std::int32_t>::max()});
  default_text(arena, spec, "completionMode", "NonIndexed");
  default_boolean(arena, spec, "suspend", false);
  default_text(arena, spec, "podReplacementPolicy",
               absent(spec, "podFailurePolicy") ? "TerminatingOrFailed" : "Failed");
  default_boolean(arena, spec, "manualSelector", false);
  if (json::Value* policy = spec.find("podFailurePolicy"); policy != nullptr) {
    for (json::Value& rule : items_at(*policy, "rules")) {
      for (json::Value& pattern : items_at(rule, "onPodConditions")) {
        default_text(arena, pattern, "status", "True");
      }
    }
  }
  json::Value& pod_template = make_object(arena, spec, "template");
  make_object(arena, pod_template, "metadata");
  default_pod_spec(arena, make_object(arena, pod_template, "spec"));
}

void validate_restart_policy(const json::Value& spec, const std::string& path,
                             FieldErrors& errors) {
  const std::string_view policy = text_at(object_at(spec, {"template", "spec"}), "restartPolicy");
  const std::string at = child(path, "template.spec.restartPolicy");
  const std::string shown = quote(policy);
  if (policy.empty() || policy == "Always") {
    errors.required(at, "valid values: \"OnFailure\", \"Never\"");
  } else if (policy != "OnFailure" && policy != "Never") {
    errors.not_supported(at, shown, {"OnFailure", "Never"});
  } else if (!absent(spec, "podFailurePolicy") && policy != "Never") {
    errors.invalid(at, shown, "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

// Where every index may fail on its own, the many failures of many indexes have to fit in a status.
void validate_failed_indexes(const json::Value& spec, const std::string& path,
                             FieldErrors& errors) {
  constexpr std::int64_t kMany = 100'000;
  constexpr std::int64_t kOfMany = 10'000;
  constexpr std::string_view kWithMany =
      "must be less than or equal to 10000 when completions are above 100000 and used with backoff "
      "limit per index";
  const std::optional<std::int64_t> completions = integer_at(spec, "completions");
  const std::optional<std::int64_t> failed = integer_at(spec, "maxFailedIndexes");
  const std::string at = child(path, "maxFailedIndexes");
  if (completions && failed && *failed > *completions) {
    errors.invalid(at, std::to_string(*failed), "must be less than or equal to completions");
  }
  if (failed && *failed > kMany) {
    errors.invalid(at, std::to_string(*failed), "must be less than or equal to 100000");
  }
  if (completions.value_or(0) <= kMany || absent(spec, "backoffLimitPerIndex")) {
    return;
  }
  if (!failed) {
    errors.required(at, "must be specified when completions is above 100000");
  }
  if (const std::int64_t pods = integer_at(spec, "parallelism").value_or(0); pods > kOfMany) {
    errors.invalid(child(path, "parallelism"), std::to_string(pods), kWithMany);
  }
  if (failed && *failed > kOfMany) {
    errors.invalid(at, std::to_string(*failed), kWithMany);
  }
}

void validate_indexed(const json::Value& spec, const std::string& path, FieldErrors& errors) {
  const std::string_view mode = text_at(spec, "completionMode");
  if (mode == "Indexed") {
    if (absent(spec, "completions")) {
      errors.required(child(path, "completions"), "when completion mode is Indexed");
    }
    const std::int64_t parallelism = integer_at(spec, "parallelism").value_or(0);
    if (parallelism > 100'000) {
      errors.invalid(child(path, "parallelism"), std::to_string(parallelism),
                     "must be less than or equal to 100000 when completion mode is Indexed");
    }
    validate_failed_indexes(spec, path, errors);
    return;
  }
  if (mode != "NonIndexed") {
    const std::string shown = quote(mode);
    errors.not_supported(child(path, "completionMode"), shown, {"NonIndexed", "Indexed"});
  }
  for (std::string_view key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (const auto value = integer_at(spec, key)) {
      errors.invalid(child(path, key), std::to_string(*value), "requires indexed completion mode");
    }
  }
}

void validate_job_spec(const json::Value& spec, const std::string& path, FieldErrors& errors) {
  for (std::string_view key :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    validate_nonnegative(spec, key, path, errors);
  }
  if (!absent(spec, "maxFailedIndexes") && absent(spec, "backoffLimitPerIndex")) {
    errors.required(child(path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  validate_indexed(spec, path, errors);
  validate_job_policies(spec, path, errors);
  validate_pod_template(object_at(spec, "template"), child(path, "template"), errors);
  validate_restart_policy(spec, path, errors);
}

void set_if_absent(json::Arena& arena, json::Value& map, std::string_view key,
                   std::string_view value) {
  if (map.find(key) == nullptr) {
    map.set(arena, key, json::Value::string(arena, value));
  }
}

// A job without labels shows those of its pods. Upstream fills them in when it reads what it
// stored, so those that were generated are among them.
void label_like_pods(json::Arena& arena, json::Value& job) {
  const json::Value& labels = object_at(job, {"spec", "template", "metadata", "labels"});
  json::Value& metadata = make_object(arena, job, "metadata");
  if (labels.size() > 0 && object_at(metadata, "labels").size() == 0) {
    metadata.set(arena, "labels", labels.clone(arena));
  }
}

// Labels of `metadata` that repeat the name of the job.
void rename_labels(json::Arena& arena, json::Value& metadata, std::string_view previous,
                   std::string_view name) {
  json::Value* labels = metadata.find("labels");
  if (labels == nullptr) {
    return;
  }
  for (std::string_view key : {std::string_view("job-name"), kJobName}) {
    const json::Value* label = labels->find(key);
    if (label != nullptr && label->is_string() && label->as_string() == previous) {
      labels->set(arena, key, json::Value::string(arena, name));
    }
  }
}

class JobStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& job) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, job, "spec");
    default_job_spec(arena, spec);
    label_like_pods(arena, job);
  }

  void prepare_create(WriteContext& context, json::Value& job) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, job, "spec");
    if (true_at(spec, "manualSelector")) {
      return;
    }
    const json::Value& metadata = object_at(job, "metadata");
    const std::string_view name = text_at(metadata, "name");
    const std::string_view uid = text_at(metadata, "uid");
    json::Value& template_metadata =
        make_object(arena, make_object(arena, spec, "template"), "metadata");
    json::Value& labels = make_object(arena, template_metadata, "labels");
    set_if_absent(arena, labels, "job-name", name);
    set_if_absent(arena, labels, kJobName, name);
    set_if_absent(arena, labels, "controller-uid", uid);
    set_if_absent(arena, labels, kControllerUid, uid);
    json::Value& selector = make_object(arena, spec, "selector");
    set_if_absent(arena, make_object(arena, selector, "matchLabels"), kControllerUid, uid);
    label_like_pods(arena, job);
  }

  void name_generated(WriteContext& context, json::Value& job,
                      std::string_view previous) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, job, "spec");
    if (true_at(spec, "manualSelector")) {
      return;
    }
    json::Value& metadata = make_object(arena, job, "metadata");
    const std::string name(text_at(metadata, "name"));
    rename_labels(arena, make_object(arena, make_object(arena, spec, "template"), "metadata"),
                  previous, name);
    rename_labels(arena, metadata, previous, name);
  }

  void validate(WriteContext& context, const json::Value& job, FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(job, "spec");
    validate_generated_labels(job, spec, errors);
    validate_job_spec(spec, "spec", errors);
    const json::Value* selector = spec.find("selector");
    if (selector == nullptr || !selector->is_object()) {
      errors.required("spec.selector", "");
    } else if (validate_label_selector(*selector, "spec.selector", errors)) {
      const json::Value& labels = object_at(spec, {"template", "metadata", "labels"});
      if (!selector_matches(*selector, labels)) {
        errors.invalid("spec.template.metadata.labels", show(labels),
                       "`selector` does not match template `labels`");
      }
    }
    validate_host_names(job, spec, errors);
  }

  void validate_update(WriteContext& context, const json::Value& job, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource == "status") {
      validate_status(object_at(job, "status"), object_at(old, "status"), errors);
      return;
    }
    const json::Value& spec = object_at(job, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    const auto immutable = [&](std::string_view key) {
      if (!same(spec.find(key), old_spec.find(key))) {
        const json::Value* value = spec.find(key);
        errors.invalid(child("spec", key), value == nullptr ? "null" : show(*value),
                       "field is immutable");
      }
    };
    // Indexed jobs may change completions together with parallelism.
    const bool elastic = text_at(spec, "completionMode") == "Indexed" &&
                         integer_at(spec, "completions") == integer_at(spec, "parallelism");
    if (!elastic) {
      immutable("completions");
    }
    immutable("selector");
    validate_template_update(context.arena, spec, old_spec, old, errors);
    for (std::string_view key : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex",
                                 "managedBy", "successPolicy"}) {
      immutable(key);
    }
  }

 private:
  static void validate_generated_labels(const json::Value& job, const json::Value& spec,
                                        FieldErrors& errors) {
    if (true_at(spec, "manualSelector")) {
      return;
    }
    const json::Value& labels = object_at(spec, {"template", "metadata", "labels"});
    const json::Value& metadata = object_at(job, "metadata");
    for (const auto& [key, source] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"controller-uid", "uid"},
             {"job-name", "name"},
             {kControllerUid, "uid"},
             {kJobName, "name"}}) {
      const std::string_view expected = text_at(metadata, source);
      const json::Value* value = labels.find(key);
      if (value == nullptr) {
        errors.required(at_key("spec.template.metadata.labels", key),
                        "must be '" + std::string(expected) + "'");
      } else if (!value->is_string() || value->as_string() != expected) {
        errors.invalid(at_key("spec.template.metadata.labels", key), show(labels),
                       "must be '" + std::string(expected) + "'");
      }
    }
  }

  // Pods of an indexed job are named after their index.
  static void validate_host_names(const json::Value& job, const json::Value& spec,
                                  FieldErrors& errors) {
    const std::int64_t completions = integer_at(spec, "completions").value_or(0);
    if (text_at(spec, "completionMode") != "Indexed" || completions <= 0) {
      return;
    }
    const std::string_view name = text_at(object_at(job, "metadata"), "name");
    const std::string longest = std::string(name) + "-" + std::to_string(completions - 1);
    if (!model::check_dns1123_label(longest).empty()) {
      errors.invalid_text("metadata.name", name,
                          "will not able to create pod with invalid DNS label: " + longest);
    }
  }

  static void validate_template_update(json::Arena& arena, const json::Value& spec,
                                       const json::Value& old_spec, const json::Value& old,
                                       FieldErrors& errors) {
    const json::Value& now = object_at(spec, "template");
    json::Value before = object_at(old_spec, "template").clone(arena);
    if (true_at(old_spec, "suspend") && absent(object_at(old, "status"), "startTime")) {
      // Queueing systems steer a job between its creation and its first start.
      json::Value& pod = make_object(arena, before, "spec");
      const json::Value& new_pod = object_at(now, "spec");
      for (std::string_view key : {"nodeSelector", "tolerations", "schedulingGates"}) {
        copy_member(arena, pod, new_pod, key);
      }
      copy_member(arena, make_object(arena, pod, "affinity"), object_at(new_pod, "affinity"),
                  "nodeAffinity");
      json::Value& metadata = make_object(arena, before, "metadata");
      copy_member(arena, metadata, object_at(now, "metadata"), "annotations");
      copy_member(arena, metadata, object_at(now, "metadata"), "labels");
    }
    if (!same(&now, &before)) {
      errors.invalid("spec.template", show(now), "field is immutable");
    }
  }

  static bool is_true(const json::Value& status, std::string_view type) {
    return std::ranges::any_of(items_at(status, "conditions"), [&](const json::Value& condition) {
      return text_at(condition, "type") == type && text_at(condition, "status") == "True";
    });
  }

  static void validate_status(const json::Value& status, const json::Value& old,
                              FieldErrors& errors) {
    for (std::string_view type : {"Failed", "Complete", "FailureTarget"}) {
      if (is_true(old, type) && !is_true(status, type)) {
        errors.invalid("status.conditions", "",
                       "cannot disable the terminal " + std::string(type) + "=True condition");
      }
    }
    for (std::string_view counter : {"failed", "succeeded"}) {
      const std::int64_t value = integer_at(status, counter).value_or(0);
      if (value < integer_at(old, counter).value_or(0)) {
        errors.invalid(child("status", counter), std::to_string(value),
                       "cannot decrease the " + std::string(counter) + " counter");
      }
    }
    if (is_true(status, "Failed") && is_true(status, "Complete")) {
      errors.invalid("status.conditions", "",
                     "cannot set Complete=True and Failed=true conditions");
    }
    validate_completion_time(status, old, errors);
  }

  // Only what this write changes is judged: a status from before may say what it likes.
  static void validate_completion_time(const json::Value& status, const json::Value& old,
                                       FieldErrors& errors) {
    constexpr std::string_view kKey = "completionTime";
    const std::string at = child("status", kKey);
    const bool moved = !same(status.find(kKey), old.find(kKey));
    const bool complete = is_true(status, "Complete");
    if (!moved && complete == is_true(old, "Complete")) {
      return;
    }
    if (absent(status, kKey)) {
      if (complete) {
        errors.required(at, "completionTime is required for Complete jobs");
      }
      return;
    }
    if (!complete) {
      errors.invalid_text(at, text_at(status, kKey),
                          "cannot set completionTime when there is no Complete=True condition");
    }
    if (moved && !absent(old, kKey)) {
      errors.invalid_text(at, text_at(status, kKey), "field is immutable");
    }
  }
};

class CronJobStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    default_text(arena, spec, "concurrencyPolicy", "Allow");
    default_boolean(arena, spec, "suspend", false);
    default_integer(arena, spec, "successfulJobsHistoryLimit", 3);
    default_integer(arena, spec, "failedJobsHistoryLimit", 1);
    // Defaults of the job itself are filled in when a job is made of it; its pods' are not.
    json::Value& job = make_object(arena, make_object(arena, spec, "jobTemplate"), "spec");
    json::Value& pod_template = make_object(arena, job, "template");
    make_object(arena, pod_template, "metadata");
    default_pod_spec(arena, make_object(arena, pod_template, "spec"));
  }
  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    validate_schedule(spec, errors);
    validate_nonnegative(spec, "startingDeadlineSeconds", "spec", errors);
    validate_nonnegative(spec, "successfulJobsHistoryLimit", "spec", errors);
    validate_nonnegative(spec, "failedJobsHistoryLimit", "spec", errors);
    const std::string_view policy = text_at(spec, "concurrencyPolicy");
    if (policy != "Allow" && policy != "Forbid" && policy != "Replace") {
      const std::string shown = quote(policy);
      errors.not_supported("spec.concurrencyPolicy", shown, {"Allow", "Forbid", "Replace"});
    }
    const json::Value& job = object_at(spec, {"jobTemplate", "spec"});
    validate_job_policies(job, "spec.jobTemplate.spec", errors);
    validate_pod_template(object_at(job, "template"), "spec.jobTemplate.spec.template", errors);
    validate_restart_policy(job, "spec.jobTemplate.spec", errors);
    if (text_at(object_at(object, "metadata"), "name").size() > 52) {
      errors.invalid_text("metadata.name", text_at(object_at(object, "metadata"), "name"),
                          "must be no more than 52 characters");
    }
  }

 private:
  static void validate_schedule(const json::Value& spec, FieldErrors& errors) {
    const std::string_view schedule = text_at(spec, "schedule");
    if (schedule.empty()) {
      errors.required("spec.schedule", "");
    } else if (const std::string wrong = schedule_complaint(schedule); !wrong.empty()) {
      errors.invalid_text("spec.schedule", schedule, wrong);
    }
    if (schedule.contains("TZ")) {
      errors.invalid_text("spec.schedule", schedule,
                          "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    }
    if (!absent(spec, "timeZone")) {
      const std::string_view zone = text_at(spec, "timeZone");
      if (const std::string wrong = time_zone_complaint(zone); !wrong.empty()) {
        errors.invalid_text("spec.timeZone", zone, wrong);
      }
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_job_strategy() {
  return std::make_shared<JobStrategy>();
}
std::shared_ptr<const Strategy> make_cron_job_strategy() {
  return std::make_shared<CronJobStrategy>();
}

}  // namespace codeflare::apiserver
