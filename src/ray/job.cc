#include "ray/job.h"

#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

namespace codeflare::ray {

namespace {

using json::Value;

constexpr std::array<std::pair<JobStatus, std::string_view>, 5> kStatuses = {{
    {JobStatus::pending, "PENDING"},
    {JobStatus::running, "RUNNING"},
    {JobStatus::stopped, "STOPPED"},
    {JobStatus::succeeded, "SUCCEEDED"},
    {JobStatus::failed, "FAILED"},
}};

Error not_understood(std::string_view what) {
  return data_loss("unexpected answer of the Ray dashboard: " + std::string(what));
}

Result<json::Document> parse_answer(std::string_view text) {
  Result<json::Document> document = json::parse(text);
  if (!document) {
    return fail(not_understood(document.error().message));
  }
  return document;
}

Result<JobStatus> status_of(std::string_view word) {
  for (const auto& [status, name] : kStatuses) {
    if (name == word) {
      return status;
    }
  }
  return fail(not_understood("status '" + std::string(word) + "'"));
}

// Milliseconds; null and 0 are none.
std::optional<WallTime> time_of(const Value& job, std::string_view key) {
  const Value* found = job.find(key);
  if (found == nullptr || !found->is_number()) {
    return std::nullopt;
  }
  const std::int64_t count = found->to_int64().value_or(0);
  // Beyond this a count of nanoseconds would not fit.
  constexpr std::int64_t kMax = std::int64_t{9'000'000'000'000};
  if (count <= 0 || count > kMax) {
    return std::nullopt;
  }
  return WallTime(std::chrono::milliseconds(count));
}

Result<Job> job_of(const Value& value) {
  if (!value.is_object()) {
    return fail(not_understood("a job is not an object"));
  }
  Job job;
  job.submission_id = value.string_or_empty("submission_id");
  job.job_id = value.string_or_empty("job_id");
  job.submitted = value.string_or_empty("type") != "DRIVER";
  TRY_ASSIGN(job.status, status_of(value.string_or_empty("status")));
  job.entrypoint = value.string_or_empty("entrypoint");
  job.message = value.string_or_empty("message");
  job.error_type = value.string_or_empty("error_type");
  job.started = time_of(value, "start_time");
  job.ended = time_of(value, "end_time");
  job.node_id = value.string_or_empty("driver_node_id");
  if (const Value* metadata = value.find("metadata")) {
    for (const json::Member& member : metadata->members()) {
      if (member.value.is_string()) {
        job.metadata.emplace(member.key, member.value.as_string());
      }
    }
  }
  if (const Value* env = value.find("runtime_env"); env != nullptr && env->is_object()) {
    job.runtime_env = json::to_text(*env);
  }
  if (const Value* code = value.find("driver_exit_code"); code != nullptr && code->is_number()) {
    if (const std::optional<std::int64_t> number = code->to_int64();
        number && *number >= INT32_MIN && *number <= INT32_MAX) {
      job.exit_code = static_cast<int>(*number);
    }
  }
  return job;
}

Result<const Value*> member_of(const json::Document& document, std::string_view name,
                               json::Kind kind) {
  const Value* found = document.root.find(name);
  if (found == nullptr || found->kind() != kind) {
    return fail(not_understood("field '" + std::string(name) + "' is missing"));
  }
  return found;
}

}  // namespace

bool is_terminal(JobStatus status) {
  return status != JobStatus::pending && status != JobStatus::running;
}

std::string_view to_string(JobStatus status) {
  return kStatuses[static_cast<std::size_t>(status)].second;
}

Result<Job> parse_job(std::string_view json) {
  TRY_ASSIGN(const json::Document document, parse_answer(json));
  return job_of(document.root);
}

Result<std::vector<Job>> parse_jobs(std::string_view json) {
  TRY_ASSIGN(const json::Document document, parse_answer(json));
  if (!document.root.is_array()) {
    return fail(not_understood("the jobs are not a list"));
  }
  std::vector<Job> jobs;
  for (const Value& each : document.root.items()) {
    TRY_ASSIGN(Job job, job_of(each));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<ServerVersion> parse_version(std::string_view json) {
  TRY_ASSIGN(const json::Document document, parse_answer(json));
  ServerVersion version;
  version.ray = document.root.string_or_empty("ray_version");
  const std::string_view api = document.root.string_or_empty("version");
  const auto [end, error] = std::from_chars(api.data(), api.data() + api.size(), version.api);
  if (error != std::errc() || version.ray.empty()) {
    return fail(not_understood("version is missing"));
  }
  return version;
}

Result<std::string> parse_text_member(std::string_view json, std::string_view name) {
  TRY_ASSIGN(const json::Document document, parse_answer(json));
  TRY_ASSIGN(const Value* found, member_of(document, name, json::Kind::string));
  return std::string(found->as_string());
}

Result<bool> parse_bool_member(std::string_view json, std::string_view name) {
  TRY_ASSIGN(const json::Document document, parse_answer(json));
  TRY_ASSIGN(const Value* found, member_of(document, name, json::Kind::boolean));
  return found->as_bool();
}

Result<std::string> to_json(const JobRequest& request) {
  const Result<json::Document> env = json::parse(request.runtime_env);
  if (!env || !env->root.is_object()) {
    return fail(invalid_argument("runtime_env must be a JSON object"));
  }
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.member("entrypoint", request.entrypoint);
  writer.member("submission_id", request.submission_id);
  writer.key("runtime_env").value(env->root);
  writer.key("metadata").begin_object();
  for (const auto& [key, text] : request.metadata) {
    writer.member(key, text);
  }
  writer.end_object();
  if (request.num_cpus) {
    writer.key("entrypoint_num_cpus").number(*request.num_cpus);
  }
  if (request.num_gpus) {
    writer.key("entrypoint_num_gpus").number(*request.num_gpus);
  }
  if (request.memory_bytes) {
    writer.key("entrypoint_memory").number_text(std::to_string(*request.memory_bytes));
  }
  if (!request.resources.empty()) {
    writer.key("entrypoint_resources").begin_object();
    for (const auto& [name, amount] : request.resources) {
      writer.key(name).number(amount);
    }
    writer.end_object();
  }
  if (!request.label_selector.empty()) {
    writer.key("entrypoint_label_selector").begin_object();
    for (const auto& [name, text] : request.label_selector) {
      writer.member(name, text);
    }
    writer.end_object();
  }
  writer.end_object();
  return out;
}

}  // namespace codeflare::ray
