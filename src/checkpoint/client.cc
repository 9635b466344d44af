#include "checkpoint/client.h"

#include "checkpoint/crc32c.h"
#include "checkpoint/documents.h"
#include "checkpoint/refusal.h"
#include "json/parse.h"
#include "json/write.h"
#include "net/url.h"

#include <utility>

namespace codeflare::checkpoint {

namespace {

constexpr std::size_t kAnswerBytesMax = 64u << 20;

std::string job_path(const JobKey& job) {
  return "/v1/jobs/" + net::percent_encode(job.ns) + "/" + net::percent_encode(job.uid);
}

std::string checkpoint_path(const JobKey& job, CheckpointId id) {
  return job_path(job) + "/checkpoints/" + std::to_string(id);
}

std::string begin_text(const BeginRequest& request) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("generation").integer(request.generation);
  writer.key("step").integer(request.step);
  writer.key("worldSize").integer(request.world_size);
  writer.key("bytes").integer(static_cast<std::int64_t>(request.bytes));
  writer.member_if_set("jobName", request.job_name);
  writer.key("keep").integer(request.retention.keep);
  writer.key("keepEvery").integer(request.retention.keep_every);
  if (request.lease) {
    writer.key("lease").begin_object().member("name", request.lease->name);
    writer.key("token").integer(request.lease->token).end_object();
  }
  writer.key("metadata").raw(request.metadata).end_object();
  return text;
}

JobSummary read_job(const json::Value& item) {
  const auto number = [&](std::string_view key) {
    const json::Value* value = item.find(key);
    return value == nullptr ? 0 : value->to_int64().value_or(0);
  };
  return {.job = {.ns = std::string(item.string_or_empty("namespace")),
                  .uid = std::string(item.string_or_empty("uid"))},
          .job_name = std::string(item.string_or_empty("jobName")),
          .generation = number("generation"),
          .bytes = static_cast<std::uint64_t>(number("bytes")),
          .checkpoints = number("checkpoints"),
          .latest = number("latest")};
}

}  // namespace

Task<Result<net::Response>> Client::send(Call call) {
  net::Request request{.method = std::move(call.method),
                       .target = std::move(call.target),
                       .body = std::move(call.body),
                       .body_size = call.body_size};
  if (!token_.empty()) {
    request.headers.add("Authorization", "Bearer " + token_.reveal());
  }
  CO_TRY_ASSIGN(net::Response response, co_await http_.send(std::move(request)));
  if (response.status >= 300) {
    std::string text;
    if (response.body != nullptr) {
      net::Body body = std::move(response.body);
      text = (co_await net::read_all(std::move(body), kAnswerBytesMax)).value_or("");
    }
    co_return fail(parse_error(response.status, text));
  }
  co_return response;
}

Task<Result<std::string>> Client::text_of(Call call) {
  CO_TRY_ASSIGN(net::Response response, co_await send(std::move(call)));
  if (response.body == nullptr) {
    co_return std::string();
  }
  net::Body body = std::move(response.body);
  co_return co_await net::read_all(std::move(body), kAnswerBytesMax);
}

Task<Result<Checkpoint>> Client::begin(JobKey job, BeginRequest request) {
  std::string body = begin_text(request);
  const std::size_t size = body.size();
  Call call{"POST", job_path(job) + "/checkpoints", net::body_of(std::move(body)), size};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  co_return parse_checkpoint(text);
}

Task<Result<Chunk>> Client::put(JobKey job, CheckpointId id, PutRequest request, net::Body body) {
  std::string target = checkpoint_path(job, id) + "/parts/" + net::percent_encode(request.part) +
                       "?offset=" + std::to_string(request.offset);
  if (request.crc32c) {
    target += "&crc32c=" + checksum_text(*request.crc32c);
  }
  Call call{"PUT", std::move(target), std::move(body), request.size};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  CO_TRY_ASSIGN(const json::Document document, json::parse(text));
  const json::Value* size = document.root.find("size");
  Chunk chunk{.offset = request.offset};
  chunk.size = static_cast<std::uint64_t>(size == nullptr ? 0 : size->to_int64().value_or(0));
  CO_TRY_ASSIGN(chunk.crc32c, parse_checksum(document.root.string_or_empty("crc32c")));
  co_return chunk;
}

Task<Result<Checkpoint>> Client::commit(JobKey job, CheckpointId id) {
  Call call{"POST", checkpoint_path(job, id) + "/commit"};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  co_return parse_checkpoint(text);
}

Task<Result<void>> Client::abort(JobKey job, CheckpointId id) {
  Call call{"POST", checkpoint_path(job, id) + "/abort"};
  CO_TRY(co_await text_of(std::move(call)));
  co_return Result<void>();
}

Task<Result<Checkpoint>> Client::latest(JobKey job) {
  Call call{"GET", job_path(job) + "/latest"};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  co_return parse_checkpoint(text);
}

Task<Result<Checkpoint>> Client::get(JobKey job, CheckpointId id) {
  Call call{"GET", checkpoint_path(job, id)};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  co_return parse_checkpoint(text);
}

Task<Result<std::vector<Checkpoint>>> Client::list(JobKey job) {
  Call call{"GET", job_path(job) + "/checkpoints"};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  CO_TRY_ASSIGN(const json::Document document, json::parse(text));
  std::vector<Checkpoint> checkpoints;
  const json::Value* items = document.root.find("items");
  for (const json::Value& item : items == nullptr ? json::Value().items() : items->items()) {
    CO_TRY_ASSIGN(Checkpoint checkpoint, parse_checkpoint(json::to_text(item)));
    checkpoints.push_back(std::move(checkpoint));
  }
  co_return checkpoints;
}

Task<Result<void>> Client::remove(JobKey job, CheckpointId id) {
  Call call{"DELETE", checkpoint_path(job, id)};
  CO_TRY(co_await text_of(std::move(call)));
  co_return Result<void>();
}

Task<Result<void>> Client::remove_job(JobKey job) {
  Call call{"DELETE", job_path(job)};
  CO_TRY(co_await text_of(std::move(call)));
  co_return Result<void>();
}

Task<Result<std::int64_t>> Client::fence(JobKey job, std::int64_t generation) {
  std::string body = R"({"generation":)" + std::to_string(generation) + "}";
  const std::size_t size = body.size();
  Call call{"POST", job_path(job) + "/fence", net::body_of(std::move(body)), size};
  CO_TRY(co_await text_of(std::move(call)));
  co_return generation;
}

Task<Result<net::Response>> Client::read(JobKey job, CheckpointId id, std::string part) {
  Call call{"GET", checkpoint_path(job, id) + "/parts/" + net::percent_encode(part)};
  co_return co_await send(std::move(call));
}

Task<Result<std::vector<JobSummary>>> Client::jobs(std::string ns) {
  Call call{"GET", ns.empty() ? "/v1/jobs" : "/v1/jobs/" + net::percent_encode(ns)};
  CO_TRY_ASSIGN(const std::string text, co_await text_of(std::move(call)));
  CO_TRY_ASSIGN(const json::Document document, json::parse(text));
  std::vector<JobSummary> jobs;
  const json::Value* items = document.root.find("items");
  for (const json::Value& item : items == nullptr ? json::Value().items() : items->items()) {
    jobs.push_back(read_job(item));
  }
  co_return jobs;
}

}  // namespace codeflare::checkpoint
