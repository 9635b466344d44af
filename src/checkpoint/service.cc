#include "checkpoint/service.h"

#include "checkpoint/bucket.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/documents.h"
#include "checkpoint/internal/requests.h"
#include "checkpoint/refusal.h"
#include "json/write.h"
#include "net/url.h"

#include <algorithm>
#include <utility>

namespace codeflare::checkpoint {

using internal::JobPath;
using net::Request;
using net::Response;

namespace {

constexpr std::size_t kBodyBytesMax = 1u << 20;  // of everything but chunks
constexpr std::string_view kJson = "application/json";

Response json_response(int status, std::string text) {
  text += '\n';
  return net::make_response(status, kJson, Bytes::from(std::move(text)));
}

Response no_content() {
  return Response{.status = 204};
}

Response error_response(const Error& error) {
  Response response = net::make_response(status_of(error), kJson, Bytes::from(error_text(error)));
  if (response.status == 503) {
    response.headers.add("Retry-After", "1");
  }
  return response;
}

bool wants_bucket(std::string_view query) {
  const auto items = net::parse_query(query);
  return items && std::ranges::any_of(*items, [](const net::QueryItem& item) {
           return item.name == "bucket" && item.value == "true";
         });
}

std::string lease_text(const std::string& name, const Lease& lease) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("name", name).member("holder", lease.holder);
  writer.key("token").integer(lease.token);
  writer.key("seconds").integer(lease.seconds).end_object();
  return text;
}

std::string chunk_text(const std::string& part, const Chunk& chunk) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("name", part);
  writer.key("offset").integer(static_cast<std::int64_t>(chunk.offset));
  writer.key("size").integer(static_cast<std::int64_t>(chunk.size));
  writer.member("crc32c", checksum_text(chunk.crc32c)).end_object();
  return text;
}

std::string list_text(const std::vector<CheckpointPtr>& items) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("items").begin_array();
  for (const CheckpointPtr& item : items) {
    writer.raw(checkpoint_text(*item, Detail::summary));
  }
  writer.end_array().end_object();
  return text;
}

void write_job(json::Writer& writer, const JobSummary& job) {
  writer.begin_object().member("namespace", job.job.ns).member("uid", job.job.uid);
  writer.member_if_set("jobName", job.job_name);
  writer.key("generation").integer(job.generation);
  writer.key("checkpoints").integer(job.checkpoints);
  writer.key("bytes").integer(static_cast<std::int64_t>(job.bytes));
  if (job.latest != 0) {
    writer.key("latest").integer(job.latest);
  }
  writer.end_object();
}

std::unexpected<Error> no_such_path(const Request& request) {
  return fail(not_found(request.method + " " + std::string(net::split_target(request.target).path) +
                        " is not served"));
}

Task<Result<std::string>> read_small(Request& request) {
  if (request.body == nullptr) {
    co_return std::string();
  }
  net::Body body = std::move(request.body);
  co_return co_await net::read_all(std::move(body), kBodyBytesMax);
}

}  // namespace

Service::Service(Env env, Store& store, ServiceOptions options, MetricsRegistry& metrics)
    : env_(env),
      store_(store),
      options_(std::move(options)),
      metrics_(metrics),
      requests_(metrics.counters("codeflare_checkpoint_requests_total",
                                 "Requests by method and status.", {"method", "status"})),
      bytes_sent_(metrics.counter("codeflare_checkpoint_sent_bytes_total",
                                  "Bytes of parts that readers asked for.")) {
  metrics_.on_expose([this] { refresh_metrics(); });
}

void Service::refresh_metrics() {
  const StoreCounts counts = store_.counts();
  const auto count = [&](const char* name, const char* help, std::uint64_t value) {
    metrics_.counter(name, help).set(static_cast<double>(value));
  };
  const auto gauge = [&](const char* name, const char* help, double value) {
    metrics_.gauge(name, help).set(value);
  };
  count("codeflare_checkpoint_begun_total", "Checkpoints begun.", counts.begun);
  count("codeflare_checkpoint_committed_total", "Checkpoints committed.", counts.committed);
  count("codeflare_checkpoint_aborted_total", "Checkpoints removed before their commit.",
        counts.aborted);
  count("codeflare_checkpoint_expired_total", "Checkpoints removed by retention.", counts.expired);
  count("codeflare_checkpoint_received_bytes_total", "Bytes of chunks written to disk.",
        counts.bytes_received);
  gauge("codeflare_checkpoint_jobs", "Jobs with a record.", static_cast<double>(counts.jobs));
  gauge("codeflare_checkpoint_checkpoints", "Committed checkpoints on disk.",
        static_cast<double>(counts.checkpoints));
  gauge("codeflare_checkpoint_bytes", "Bytes of all chunks on disk.",
        static_cast<double>(counts.bytes));
  gauge("codeflare_checkpoint_puts", "Chunks that arrive now.", counts.puts);
  gauge("codeflare_checkpoint_disk_trouble", "1 if the disk rejected the last write.",
        store_.trouble().empty() ? 0 : 1);
}

Task<Result<Response>> Service::send(Request request) {
  // Only methods that exist become label values.
  const std::string method = request.method == "GET" || request.method == "PUT" ||
                                     request.method == "POST" || request.method == "DELETE"
                                 ? request.method
                                 : "other";
  Answer answer = co_await serve(std::move(request));
  if (!answer && answer.error().code == ErrorCode::cancelled) {
    co_return answer;
  }
  Response response = answer ? *std::move(answer) : error_response(answer.error());
  requests_.with({method, std::to_string(response.status)}).add();
  co_return response;
}

Task<Service::Answer> Service::serve(Request request) {
  const std::string path(net::split_target(request.target).path);
  if (path == "/ping" || path == "/healthz" || path == "/metrics") {
    co_return serve_open(path);
  }
  CO_TRY_ASSIGN(const TokenScope scope, scope_of(request));
  CO_TRY_ASSIGN(std::optional<JobPath> job, internal::parse_job_path(path));
  if (!job) {
    co_return list_jobs(request, path);
  }
  if (!scope.reaches(job->job)) {
    co_return fail(permission_denied("the token does not reach job " + job->job.text()));
  }
  if (job->rest.empty() && request.method == "DELETE") {
    if (!scope.reaches_namespace(job->job.ns)) {
      co_return fail(permission_denied(
          "deleting all checkpoints of a job needs a token of namespace " + job->job.ns));
    }
    CO_TRY(co_await remove_job(job->job));
    co_return no_content();
  }
  JobPath at = *std::move(job);
  co_return co_await serve_job(std::move(request), std::move(at));
}

// Also from the disk when the bucket fails: the space there is needed.
Task<Result<void>> Service::remove_job(JobKey job) {
  Result<bool> from_bucket = false;
  if (options_.bucket != nullptr) {
    from_bucket = co_await options_.bucket->remove_job(job);
  }
  Result<void> removed = co_await store_.remove_job(job);
  CO_TRY(from_bucket);
  if (*from_bucket && !removed && removed.error().code == ErrorCode::not_found) {
    co_return Result<void>();
  }
  co_return removed;
}

Service::Answer Service::serve_open(std::string_view path) {
  if (path == "/ping") {
    std::string text;
    json::Writer(text)
        .begin_object()
        .member("service", "checkpoint")
        .member("version", options_.version)
        .member("now", to_rfc3339(env_.clock.wall()))
        .end_object();
    return json_response(200, std::move(text));
  }
  if (path == "/metrics") {
    return net::make_response(200, MetricsRegistry::kContentType, Bytes::from(metrics_.expose()));
  }
  const std::string& trouble = store_.trouble();
  return net::make_response(trouble.empty() ? 200 : 503, "text/plain; charset=utf-8",
                            Bytes::from(trouble.empty() ? "ok\n" : trouble + "\n"));
}

Result<TokenScope> Service::scope_of(const Request& request) const {
  if (!options_.key) {
    return TokenScope{.job = {.ns = std::string(kEverything), .uid = std::string(kEverything)}};
  }
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view value = request.headers.get("Authorization").value_or("");
  if (!value.starts_with(kBearer)) {
    return fail(unauthenticated("send the job's token as 'Authorization: Bearer TOKEN'"));
  }
  return check_token(*options_.key, value.substr(kBearer.size()), env_.clock.wall());
}

Service::Answer Service::list_jobs(const Request& request, std::string_view path) {
  constexpr std::string_view kPath = "/v1/jobs";
  std::string_view ns = path.substr(std::min(path.size(), kPath.size() + 1));
  if (request.method != "GET" || !path.starts_with(kPath) ||
      (path.size() > kPath.size() && path[kPath.size()] != '/')) {
    return no_such_path(request);
  }
  TRY_ASSIGN(const TokenScope scope, scope_of(request));
  if (!scope.reaches_namespace(ns.empty() ? kEverything : ns)) {
    return fail(permission_denied("listing jobs needs an admin token or one of the namespace"));
  }
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("items").begin_array();
  for (const JobSummary& job : store_.jobs(ns)) {
    write_job(writer, job);
  }
  writer.end_array().end_object();
  return json_response(200, std::move(text));
}

Task<Service::Answer> Service::serve_job(Request request, JobPath path) {
  const std::string verb = path.rest.empty() ? "" : path.rest.front();
  if (verb == "checkpoints") {
    co_return co_await serve_checkpoints(std::move(request), std::move(path));
  }
  if (verb == "leases" && path.rest.size() == 3 && request.method == "POST") {
    co_return co_await serve_lease(std::move(request), std::move(path));
  }
  if (verb == "latest" && path.rest.size() == 1 && request.method == "GET") {
    const bool bucket = wants_bucket(net::split_target(request.target).query);
    co_return co_await serve_latest(path.job, bucket);
  }
  if (verb == "fence" && path.rest.size() == 1 && request.method == "POST") {
    CO_TRY_ASSIGN(const std::string body, co_await read_small(request));
    CO_TRY_ASSIGN(const std::int64_t generation, internal::parse_fence(body));
    CO_TRY_ASSIGN(const std::int64_t newest, co_await store_.fence(path.job, generation));
    co_return json_response(200, R"({"generation":)" + std::to_string(newest) + "}");
  }
  co_return no_such_path(request);
}

Task<Service::Answer> Service::serve_checkpoints(Request request, JobPath path) {
  const std::string& method = request.method;
  if (path.rest.size() == 1 && method == "POST") {
    CO_TRY_ASSIGN(const std::string body, co_await read_small(request));
    CO_TRY_ASSIGN(BeginRequest begin, internal::parse_begin(body, options_.retention));
    CO_TRY(check_bucket(begin.bucket));
    if (begin.bucket) {
      CO_TRY(co_await options_.bucket->fence(path.job));
    }
    CO_TRY_ASSIGN(const Store::Begun begun, co_await store_.begin(path.job, std::move(begin)));
    co_return json_response(begun.is_new ? 201 : 200,
                            checkpoint_text(*begun.checkpoint, Detail::whole));
  }
  if (path.rest.size() == 1 && method == "GET") {
    CO_TRY_ASSIGN(const std::size_t limit,
                  internal::parse_limit(net::split_target(request.target).query));
    co_return json_response(200, list_text(store_.list(path.job, limit)));
  }
  if (path.rest.size() < 2) {
    co_return no_such_path(request);
  }
  CO_TRY_ASSIGN(const CheckpointId id, internal::parse_id(path.rest[1]));
  if (path.rest.size() == 2 && method == "GET") {
    CO_TRY_ASSIGN(const CheckpointPtr checkpoint, store_.get(path.job, id));
    co_return json_response(200, checkpoint_text(*checkpoint, Detail::whole));
  }
  if (path.rest.size() == 2 && method == "DELETE") {
    CO_TRY(co_await store_.remove(path.job, id));
    co_return no_content();
  }
  if (path.rest.size() == 4 && path.rest[2] == "parts") {
    co_return co_await serve_part(std::move(request), path.job, id, path.rest[3]);
  }
  if (path.rest.size() == 3 && path.rest[2] == "commit" && method == "POST") {
    co_return co_await serve_commit(std::move(request), path.job, id);
  }
  if (path.rest.size() == 3 && path.rest[2] == "abort" && method == "POST") {
    CO_TRY(co_await store_.abort(path.job, id));
    co_return no_content();
  }
  co_return no_such_path(request);
}

Result<void> Service::check_bucket(bool wanted) const {
  if (wanted && options_.bucket == nullptr) {
    return fail(refuse(409, "NoBucket",
                       "this checkpoint service has no bucket; start it with --s3-bucket, or use "
                       "checkpoint.type remote"));
  }
  return {};
}

// With a bucket a commit is answered when the checkpoint is there too.
Task<Service::Answer> Service::serve_commit(Request request, JobKey job, CheckpointId id) {
  CO_TRY_ASSIGN(const std::string body, co_await read_small(request));
  CO_TRY_ASSIGN(CommitRequest commit, internal::parse_commit(body));
  CO_TRY(check_bucket(commit.bucket));
  const bool keeps = commit.bucket;
  CO_TRY_ASSIGN(const CheckpointPtr done, co_await store_.commit(job, id, std::move(commit)));
  if (keeps) {
    CO_TRY(co_await options_.bucket->keep(job, done));
  }
  co_return json_response(200, checkpoint_text(*done, Detail::whole));
}

// Jobs that save without the bucket do not depend on it.
Task<Service::Answer> Service::serve_latest(JobKey job, bool bucket) {
  Result<CheckpointPtr> latest = store_.latest(job);
  const bool missing = !latest && latest.error().code == ErrorCode::not_found;
  if (missing && bucket && options_.bucket != nullptr) {
    CO_TRY(co_await options_.bucket->bring_back(job));
    latest = store_.latest(job);
  }
  CO_TRY(latest);
  co_return json_response(200, checkpoint_text(**latest, Detail::whole));
}

Task<Service::Answer> Service::serve_part(Request request, JobKey job, CheckpointId id,
                                          std::string part) {
  if (request.method == "GET") {
    co_return get_part(request, job, id, part);
  }
  if (request.method != "PUT") {
    co_return no_such_path(request);
  }
  CO_TRY_ASSIGN(PutRequest put,
                internal::parse_put(net::split_target(request.target).query, request.body_size));
  put.part = part;
  net::Body body = std::move(request.body);
  CO_TRY_ASSIGN(const Chunk chunk,
                co_await store_.put(std::move(job), id, std::move(put), std::move(body)));
  co_return json_response(200, chunk_text(part, chunk));
}

Service::Answer Service::get_part(const Request& request, const JobKey& job, CheckpointId id,
                                  const std::string& part) {
  TRY_ASSIGN(Store::Reading reading,
             store_.read(job, id, part, request.headers.get("Range").value_or("")));
  const ByteRange range = reading.range;
  const bool whole = range.begin == 0 && range.end == reading.size;
  Response response{.status = whole ? 200 : 206,
                    .headers = {{"Content-Type", "application/octet-stream"},
                                {"Accept-Ranges", "bytes"},
                                {"X-Checkpoint-Size", std::to_string(reading.size)},
                                {"X-Checkpoint-Crc32c", checksum_text(reading.crc32c)}},
                    .body = std::move(reading.body),
                    .body_size = range.end - range.begin};
  if (!whole) {
    response.headers.add("Content-Range", "bytes " + std::to_string(range.begin) + "-" +
                                              std::to_string(range.end - 1) + "/" +
                                              std::to_string(reading.size));
  }
  bytes_sent_.add(static_cast<double>(range.end - range.begin));
  return response;
}

Task<Service::Answer> Service::serve_lease(Request request, JobPath path) {
  const std::string name = path.rest[1];
  const std::string verb = path.rest[2];
  CO_TRY_ASSIGN(const std::string body, co_await read_small(request));
  CO_TRY_ASSIGN(LeaseRequest lease, internal::parse_lease(name, body));
  if (verb == "acquire") {
    CO_TRY_ASSIGN(const Lease held, co_await store_.acquire(path.job, std::move(lease)));
    co_return json_response(200, lease_text(name, held));
  }
  if (verb == "renew") {
    CO_TRY_ASSIGN(const Lease held, store_.renew(path.job, lease));
    co_return json_response(200, lease_text(name, held));
  }
  if (verb == "release") {
    CO_TRY(co_await store_.release(path.job, std::move(lease)));
    co_return no_content();
  }
  co_return no_such_path(request);
}

}  // namespace codeflare::checkpoint
