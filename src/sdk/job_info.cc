#include "sdk/job_info.h"

#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

JobPhase phase_of(ray::JobStatus status) {
  switch (status) {
    case ray::JobStatus::pending:
      return JobPhase::pending;
    case ray::JobStatus::running:
      return JobPhase::running;
    case ray::JobStatus::stopped:
      return JobPhase::stopped;
    case ray::JobStatus::succeeded:
      return JobPhase::succeeded;
    case ray::JobStatus::failed:
      return JobPhase::failed;
  }
  return JobPhase::pending;
}

std::optional<model::Quantity> amount_in(const std::map<std::string, std::string>& metadata,
                                         std::string_view key) {
  const auto found = metadata.find(std::string(key));
  if (found == metadata.end()) {
    return std::nullopt;
  }
  const Result<model::Quantity> amount = model::Quantity::parse(found->second);
  return amount ? std::optional(*amount) : std::nullopt;
}

}  // namespace

std::string_view to_string(JobPhase phase) {
  switch (phase) {
    case JobPhase::queued:
      return "Queued";
    case JobPhase::pending:
      return "Pending";
    case JobPhase::running:
      return "Running";
    case JobPhase::succeeded:
      return "Succeeded";
    case JobPhase::failed:
      return "Failed";
    case JobPhase::stopped:
      return "Stopped";
  }
  return "";
}

std::string_view to_string(JobBackend backend) {
  switch (backend) {
    case JobBackend::ray:
      return "ray";
    case JobBackend::ray_own:
      return "ray-own";
    case JobBackend::kubernetes:
      return "kubernetes";
  }
  return "";
}

std::optional<JobBackend> parse_backend(std::string_view word) {
  for (const JobBackend each : {JobBackend::ray, JobBackend::ray_own, JobBackend::kubernetes}) {
    if (to_string(each) == word) {
      return each;
    }
  }
  return std::nullopt;
}

bool has_ended(JobPhase phase) {
  return phase == JobPhase::succeeded || phase == JobPhase::failed || phase == JobPhase::stopped;
}

JobInfo job_info(model::ObjectKey cluster, const ray::Job& job) {
  return {.name = job.submission_id,
          .cluster = std::move(cluster),
          .phase = phase_of(job.status),
          .reason = job.error_type,
          .message = job.message,
          .command = job.entrypoint,
          .ray_job_id = job.job_id,
          .started = job.started,
          .ended = job.ended,
          .exit_code = job.exit_code,
          .sizes = {.cpus = amount_in(job.metadata, kCpusMetadata),
                    .memory = amount_in(job.metadata, kMemoryMetadata),
                    .gpus = amount_in(job.metadata, kGpusMetadata)},
          .metadata = job.metadata,
          .runtime_env = job.runtime_env,
          .node_id = job.node_id};
}

Value to_json(json::Arena& arena, const JobInfo& job) {
  Value object = Value::object();
  const auto text = [&](std::string_view key, std::string_view value) {
    object.set_static(arena, key, Value::string(arena, value));
  };
  text("name", job.name);
  text("namespace", job.cluster.ns);
  text("backend", to_string(job.backend));
  text("cluster", job.cluster.name);
  text("status", to_string(job.phase));
  text("reason", job.reason);
  text("message", job.message);
  text("command", job.command);
  text("rayJobId", job.ray_job_id);
  text("started", job.started ? to_rfc3339(*job.started) : "");
  text("ended", job.ended ? to_rfc3339(*job.ended) : "");
  object.set_static(arena, "exitCode",
                    job.exit_code ? Value::integer(arena, *job.exit_code) : Value());
  const auto size = [&](std::string_view key, const std::optional<model::Quantity>& amount) {
    text(key, amount ? amount->to_string() : "");
  };
  size("cpus", job.sizes.cpus);
  size("memory", job.sizes.memory);
  size("gpus", job.sizes.gpus);
  object.set_static(arena, "replicas", Value::integer(arena, job.replicas));
  object.set_static(arena, "attempts", Value::integer(arena, job.attempts));
  Value metadata = Value::object();
  for (const auto& [key, value] : job.metadata) {
    metadata.set(arena, key, Value::string(arena, value));
  }
  object.set_static(arena, "metadata", metadata);
  return object;
}

std::string progress_line(const JobInfo& job) {
  std::string line(to_string(job.phase));
  if (!job.reason.empty()) {
    line += ": " + job.reason;
  }
  if (!job.message.empty() && job.phase != JobPhase::running && job.phase != JobPhase::succeeded) {
    line += ": " + job.message;
  }
  return line;
}

}  // namespace codeflare::sdk
