#include "cli/views/training_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/namespaced_table.h"
#include "model/condition.h"
#include "queue/training_work.h"
#include "usage/ledger.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

namespace {

std::string stage_of(const model::TrainingJob& job) {
  if (queue::is_finished(job.status)) {
    return has_failed(job) ? "Failed" : "Succeeded";
  }
  return job.status.stage.empty() ? "Waiting" : job.status.stage;
}

std::string time_text(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : "";
}

std::string size_text(const model::TrainingJob& job) {
  const TrainingBounds bounds = bounds_of(job.spec);
  std::string text = std::to_string(job.status.current_size) + " of " + std::to_string(bounds.min) +
                     ".." + std::to_string(bounds.max) + " pods";
  if (bounds.ceiling) {
    text += ", at most " + std::to_string(queue::sizes_of(job.spec).max) + " by desiredSize " +
            std::to_string(*bounds.ceiling);
  }
  return text;
}

std::string plan_text(const model::TrainingPlan& plan) {
  std::string text = "generation " + std::to_string(plan.generation) + ", " +
                     std::to_string(plan.places.size()) + " pods";
  if (!plan.leaving.empty()) {
    text += ", " + std::to_string(plan.leaving.size()) + " leaving";
  }
  return text + (plan.since ? ", since " + to_rfc3339(plan.since->time) : "");
}

std::string progress_text(const model::TrainingProgress& progress) {
  std::string text = "step " + std::to_string(progress.step);
  if (progress.saved_step) {
    text += ", saved at step " + std::to_string(*progress.saved_step);
  }
  if (progress.remaining_samples) {
    text += ", " + std::to_string(*progress.remaining_samples) + " samples left";
  }
  return text;
}

// Since when nothing was saved, and why.
std::string unsaved_text(const model::List<model::Condition>& conditions) {
  const auto at = std::ranges::find(conditions, "Unsaved", &model::Condition::type);
  if (at == conditions.end() || at->status != "True" || !at->last_transition_time) {
    return "";
  }
  return "since " + to_rfc3339(*at->last_transition_time) + ": " + at->message;
}

std::string restarts_text(const model::TrainingRestartCounts& counts) {
  return std::to_string(counts.user) + " user, " + std::to_string(counts.infra) + " infra, " +
         std::to_string(counts.scaling) + " scaling";
}

// "cpu 120 unit-seconds, nvidia.com/gpu 60 unit-seconds"
std::string usage_text(std::string_view status_usage) {
  const Result<usage::Ledger> ledger = usage::parse_ledger(status_usage);
  std::string text;
  for (const auto& [account, seconds] : ledger ? ledger->totals : usage::Totals()) {
    text += (text.empty() ? "" : ", ") + account.resource + " " + std::to_string(seconds) +
            " unit-seconds";
  }
  return text;
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "none";
}

std::string step_text(std::string name, const std::string& before, const std::string& after) {
  return std::move(name) + " " + (before == after ? before : before + " -> " + after);
}

}  // namespace

bool has_failed(const model::TrainingJob& job) {
  return queue::is_finished(job.status) &&
         !model::is_condition_true(job.status.conditions, "Succeeded");
}

TrainingBounds bounds_of(const model::TrainingJobSpec& spec) {
  const std::int64_t min = spec.min_size.value_or(spec.sizes.empty() ? 1 : spec.sizes.front());
  return {.min = min,
          .max = spec.max_size.value_or(spec.sizes.empty() ? min : spec.sizes.back()),
          .ceiling = spec.desired_size};
}

std::string change_text(const TrainingBounds& before, const TrainingBounds& after) {
  return step_text("min", std::to_string(before.min), std::to_string(after.min)) + ", " +
         step_text("max", std::to_string(before.max), std::to_string(after.max)) + ", " +
         step_text("size", number_text(before.ceiling), number_text(after.ceiling));
}

std::string render_training_jobs(const std::vector<model::TrainingJob>& jobs, bool all_namespaces,
                                 WallTime now) {
  NamespacedTable table(all_namespaces,
                        {"NAME", "STATE", "SIZE", "MIN", "MAX", "PRIORITY", "AGE", "REASON"});
  for (const model::TrainingJob& job : jobs) {
    const TrainingBounds bounds = bounds_of(job.spec);
    const auto& created = job.metadata.creation_timestamp;
    table.add(
        job.metadata.ns,
        {job.metadata.name, stage_of(job), std::to_string(job.status.current_size),
         std::to_string(bounds.min), std::to_string(bounds.max), std::to_string(job.spec.priority),
         created ? human_duration(now - *created) : "-", or_dash(job.status.reason)});
  }
  return table.text();
}

std::string render_training_status(const model::TrainingJob& job, WallTime now) {
  const model::TrainingJobStatus& status = job.status;
  std::string out;
  add_field(out, "TrainingJob", job.metadata.ns + "/" + job.metadata.name);
  add_field(out, "Stage", stage_of(job));
  add_field(out, "Size", size_text(job));
  add_field(out, "Ready", std::to_string(status.ready_size));
  add_field(out, "Plan", status.plan ? plan_text(*status.plan) : "");
  add_field(out, "Priority", std::to_string(job.spec.priority));
  add_field(out, "Reason", status.reason);
  add_field(out, "Message", status.message);
  add_field(out, "Progress", status.progress ? progress_text(*status.progress) : "");
  add_field(out, "Unsaved", unsaved_text(status.conditions));
  add_field(out, "Restarts", restarts_text(status.restart_counts));
  add_field(out, "Usage", usage_text(status.extra.find("usage")));
  add_field(out, "Created", time_text(job.metadata.creation_timestamp));
  add_field(out, "Started", time_text(status.start_time));
  add_field(out, "Retried at", time_text(status.cooldown_time));
  add_field(out, "Ended", time_text(status.completion_time));
  if (status.start_time) {
    add_field(out, "Took",
              human_duration(status.completion_time.value_or(now) - *status.start_time));
  }
  return out;
}

std::string training_line(const model::TrainingJob& job) {
  const std::string& message = job.status.message.empty() ? job.status.reason : job.status.message;
  return stage_of(job) + ", " + size_text(job) + (message.empty() ? "" : ": " + one_line(message));
}

}  // namespace codeflare::cli
