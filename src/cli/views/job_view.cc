#include "cli/views/job_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/table.h"

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

}  // namespace

std::string render_jobs(const std::vector<JobInfo>& jobs, WallTime now) {
  Table table({"NAME", "NAMESPACE", "BACKEND", "CLUSTER", "STATUS", "STARTED", "TOOK", "REASON"});
  for (const JobInfo& job : jobs) {
    table.add_row({job.name, or_dash(job.cluster.ns), std::string(to_string(job.backend)),
                   or_dash(job.cluster.name), std::string(to_string(job.phase)),
                   or_dash(time_text(job.started)), or_dash(took(job, now)), or_dash(job.reason)});
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

}  // namespace codeflare::cli
