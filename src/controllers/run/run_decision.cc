#include "controllers/run/run_decision.h"

#include "controllers/run/run_status.h"
#include "model/condition.h"
#include "model/meta.h"
#include "platform/names.h"
#include "queue/status_words.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

std::optional<std::int64_t> seconds_of(const model::Run& run, std::string_view field) {
  for (const model::EffectiveValue& value : run.status.effective) {
    std::int64_t seconds = 0;
    const char* end = value.value.data() + value.value.size();
    if (value.name == field && std::from_chars(value.value.data(), end, seconds).ptr == end) {
      return seconds;
    }
  }
  return std::nullopt;
}

// After the end nothing is left to do but to go.
void decide_ended(const Observed& observed, WallTime now, Desired& desired) {
  const model::Run& run = observed.run();
  const std::optional<std::int64_t> ttl = run.spec.ttl_seconds_after_finished
                                              ? run.spec.ttl_seconds_after_finished
                                              : seconds_of(run, "ttlSecondsAfterFinished");
  if (!ttl || !run.status.completion_time) {
    return;
  }
  const Duration left = *run.status.completion_time + std::chrono::seconds(*ttl) - now;
  if (left <= Duration::zero()) {
    desired.remove_run = true;
  } else {
    desired.again = left;
  }
}

std::string texts_of(const std::vector<platform::Problem>& problems) {
  std::string text;
  for (const platform::Problem& problem : problems) {
    text += (text.empty() ? "" : "; ") + platform::to_string(problem);
  }
  return text;
}

void decide_wrong(const Observed& observed, const std::vector<platform::Problem>& problems,
                  WallTime now, Desired& desired) {
  const model::Run& run = observed.run();
  const bool may_come = std::ranges::all_of(problems, &platform::Problem::missing);
  const WallTime born = run.metadata.creation_timestamp.value_or(now);
  const Duration left = born + kPatience - now;
  if (may_come && left > Duration::zero()) {
    set_phase(desired.status, model::run_phase::kPending, "Missing", texts_of(problems));
    set_condition(desired.status, "Compiled", "False", "Missing", texts_of(problems), now);
    desired.again = left;
    return;
  }
  fail_run(desired.status, may_come ? "Missing" : "Invalid", texts_of(problems), now);
  set_condition(desired.status, "Compiled", "False", desired.status.reason, desired.status.message,
                now);
}

void decide_first(const Observed& observed, WallTime now, Desired& desired) {
  const model::Run& run = observed.run();
  if (!run.status.app_wrapper.empty()) {
    fail_run(desired.status, std::string(kAppWrapperDeleted),
             "AppWrapper " + run.status.app_wrapper + " was deleted", now);
    return;
  }
  platform::Compiled compiled = platform::compile(observed.input, observed.options);
  desired.status.api = compiled.api;
  desired.status.size = compiled.size;
  desired.status.effective = std::move(compiled.effective);
  if (!compiled.problems.empty()) {
    decide_wrong(observed, compiled.problems, now, desired);
    return;
  }
  desired.status.app_wrapper = compiled.wrapper.metadata.name;
  set_condition(desired.status, "Compiled", "True", "Compiled",
                "AppWrapper " + compiled.wrapper.metadata.name, now);
  if (run.spec.suspend) {
    set_phase(desired.status, model::run_phase::kSuspended,
              std::string(queue::word(queue::Reason::held)), "held by spec.suspend");
  } else {
    set_phase(desired.status, model::run_phase::kQueued, "Queued", "");
  }
  desired.create = std::move(compiled.wrapper);
}

// The rest of the compiled AppWrapper stays, so a change of the Application cannot be in the way.
// Policies may reject the new priority; the Run keeps the old one then.
std::int32_t priority_of(const Observed& observed, Desired& desired) {
  const model::Run& run = observed.run();
  const std::int32_t before = observed.wrapper->spec.priority;
  if (run.metadata.generation == run.status.observed_generation) {
    return before;
  }
  const platform::RunPriority changed = platform::priority_of(observed.input);
  if (changed.problems.empty()) {
    return changed.value;
  }
  desired.events.push_back(
      {.warning = true,
       .reason = "PriorityRejected",
       .message = texts_of(changed.problems) + "; the priority stays " + std::to_string(before)});
  return before;
}

// The fields of a Run that may change.
std::string patch_of(const Observed& observed, Desired& desired) {
  const model::AppWrapperSpec& spec = observed.wrapper->spec;
  std::string fields;
  if (spec.suspend.value_or(false) != observed.run().spec.suspend) {
    fields += std::string("\"suspend\":") + (observed.run().spec.suspend ? "true" : "false");
  }
  if (const std::int32_t priority = priority_of(observed, desired); priority != spec.priority) {
    fields += (fields.empty() ? "" : ",") + std::string("\"priority\":") + std::to_string(priority);
  }
  return fields.empty() ? "" : R"({"spec":{)" + fields + "}}";
}

// "Application default/app is not ready: spec.repoSecret: Secret default/git does not exist".
template <typename T>
std::string not_ready(const T& object) {
  const model::Condition* ready = model::find_condition(object.status.conditions, "Ready");
  return ready == nullptr || ready->status != "False"
             ? ""
             : std::string(model::ResourceTraits<T>::kind) + " " +
                   object.metadata.key().to_string() + " is not ready: " + ready->message;
}

// Why a start takes long of which no pod says why: a Secret that is missing keeps pods from
// starting, and only Events tell that.
std::string slow_start(const platform::CompileInput& input) {
  std::string text = input.application ? not_ready(*input.application) : "";
  for (const model::DataSet& data_set : input.data_sets) {
    const std::string more = not_ready(data_set);
    text += (text.empty() || more.empty() ? "" : "; ") + more;
  }
  return text;
}

bool is_cancelled(const model::Run& run) {
  return run.metadata.annotations.contains(platform::kCancelAnnotation);
}

}  // namespace

Desired decide(const Observed& observed, WallTime now) {
  const model::Run& run = observed.run();
  Desired desired{.status = run.status};
  if (observed.progress) {  // also after the end: the last lines of a log may come late
    desired.status.epoch = observed.progress->epoch;
    desired.status.progress = observed.progress->progress;
  }
  if (model::is_terminal(run.status)) {
    decide_ended(observed, now, desired);
    return desired;
  }
  if (is_cancelled(run)) {
    desired.remove_wrapper = observed.wrapper && !observed.wrapper->metadata.deleting();
    fail_run(desired.status, "Cancelled", "cancelled by its user", now);
  } else if (!observed.wrapper) {
    decide_first(observed, now, desired);
  } else if (const auto* owner = model::controller_of(observed.wrapper->metadata);
             owner == nullptr || owner->uid != run.metadata.uid) {
    fail_run(desired.status, "NameTaken",
             "AppWrapper " + observed.wrapper->metadata.name +
                 " is not of this Run; delete it or give the Run another name",
             now);
  } else {
    if (run.status.app_wrapper.empty()) {
      // An earlier life of the controller made it and ended before it wrote the status.
      platform::Compiled compiled = platform::compile(observed.input, observed.options);
      desired.status.api = compiled.api;
      desired.status.size = compiled.size;
      desired.status.effective = std::move(compiled.effective);
      desired.status.app_wrapper = observed.wrapper->metadata.name;
      set_condition(desired.status, "Compiled", "True", "Compiled",
                    "AppWrapper " + observed.wrapper->metadata.name, now);
    }
    follow_wrapper(*observed.wrapper, observed.pods, now, desired.status, desired.again);
    if (desired.status.phase == model::run_phase::kStarting && desired.status.message.empty()) {
      if (const std::string why = slow_start(observed.input); !why.empty()) {
        set_phase(desired.status, model::run_phase::kStarting, "NotReady", why);
      }
    }
    if (!model::is_terminal(observed.wrapper->status)) {
      desired.wrapper_patch = patch_of(observed, desired);
    }
  }
  desired.status.observed_generation = run.metadata.generation;
  if (desired.status.phase == model::run_phase::kFailed) {
    desired.events.push_back(
        {.warning = true, .reason = desired.status.reason, .message = desired.status.message});
  }
  return desired;
}

}  // namespace codeflare::controllers::runs
