#include "cli/views/job_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "model/resource_text.h"

#include <utility>

namespace codeflare::cli {

namespace {

using sdk::JobInfo;

std::string time_text(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : "";
}

// How long the job ran, or has been running so far.
std::string took(const JobInfo& job, WallTime now) {
  if (!job.started || (!job.ended && has_ended(job.phase))) {
    return "";
  }
  return human_duration(job.ended.value_or(now) - *job.started);
}

// The uploaded working directory; the rest of the environment may hold secrets.
std::string code_package(const JobInfo& job) {
  const Result<json::Document> env = json::parse(job.runtime_env);
  return env ? std::string(env->root.string_or_empty("working_dir")) : "";
}

std::string size_text(std::string_view resource, const std::optional<model::Quantity>& amount) {
  return amount ? model::human_amount(resource, *amount) : "-";
}

// "2 CPUs, 4Gi memory, 1 gpu": of those that are known.
std::string requests_text(const sdk::JobSizes& sizes) {
  std::string text;
  using Part = std::pair<std::string_view, const std::optional<model::Quantity>*>;
  for (const auto& [resource, amount] :
       {Part{"cpu", &sizes.cpus}, Part{"memory", &sizes.memory}, Part{"gpu", &sizes.gpus}}) {
    if (*amount) {
      text += (text.empty() ? "" : ", ") + model::human_resource(resource, **amount);
    }
  }
  return text;
}

}  // namespace

std::string render_jobs(const std::vector<JobInfo>& jobs, WallTime now) {
  Table table({"NAME", "NAMESPACE", "BACKEND", "CLUSTER", "STATUS", "CPUS", "MEMORY", "GPUS",
               "STARTED", "TOOK", "REASON"});
  for (const JobInfo& job : jobs) {
    table.add_row({job.name, or_dash(job.cluster.ns), std::string(to_string(job.backend)),
                   or_dash(job.cluster.name), std::string(to_string(job.phase)),
                   size_text("cpu", job.sizes.cpus), size_text("memory", job.sizes.memory),
                   size_text("gpu", job.sizes.gpus), or_dash(time_text(job.started)),
                   or_dash(took(job, now)), or_dash(job.reason)});
  }
  return table.to_text();
}

std::string render_job_status(const JobInfo& job, WallTime now) {
  std::string out;
  add_field(out, "Job", job.name);
  add_field(out, "Back end", std::string(to_string(job.backend)));
  add_field(out, "Ray cluster", job.cluster.name.empty() ? "" : job.cluster.to_string());
  add_field(out, "Namespace", job.cluster.name.empty() ? job.cluster.ns : "");
  add_field(out, "Status", std::string(to_string(job.phase)));
  add_field(out, "Reason", job.reason);
  add_field(out, "Message", job.message);
  add_field(out, "Exit code", job.exit_code ? std::to_string(*job.exit_code) : "");
  add_field(out, "Replicas", job.replicas > 1 ? std::to_string(job.replicas) : "");
  add_field(out, "Attempts", job.attempts > 1 ? std::to_string(job.attempts) : "");
  add_field(out, "Started", time_text(job.started));
  add_field(out, "Ended", time_text(job.ended));
  add_field(out, "Took", took(job, now));
  add_field(out, "Command", job.command);
  return out;
}

std::string render_job_details(const JobInfo& job, WallTime now) {
  std::string out = render_job_status(job, now);
  add_field(out, "Requests", requests_text(job.sizes));
  add_field(out, "Ray job id", job.ray_job_id);
  add_field(out, "Code package", code_package(job));
  for (const auto& [key, value] : job.metadata) {
    if (!key.starts_with("codeflare.dev/")) {
      add_field(out, "Metadata", key + "=" + one_line(value));
    }
  }
  return out;
}

}  // namespace codeflare::cli
