#include "ray/client.h"

#include "base/async/sleep.h"
#include "base/env/backoff.h"
#include "net/url.h"
#include "ray/internal/answer.h"
#include "ray/internal/log_tail.h"
#include "ray/internal/retry.h"

#include <utility>

namespace codeflare::ray {

using internal::Answer;
using internal::Effect;
using internal::Retry;

namespace {

constexpr Duration kTailWaitFirst = std::chrono::milliseconds(200);
constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20;
// Tells our own submission from one of the same id by somebody else.
constexpr std::string_view kMark = "codeflare.dev/submission";

std::string job_path(std::string_view id, std::string_view rest = {}) {
  return "/api/jobs/" + net::percent_encode(id) + std::string(rest);
}

Result<std::string> package_path(std::string_view uri) {
  constexpr std::string_view kScheme = "gcs://";
  if (!uri.starts_with(kScheme)) {
    return fail(invalid_argument("package " + std::string(uri) + ": only gcs:// can be uploaded"));
  }
  return "/api/packages/gcs/" + net::percent_encode(uri.substr(kScheme.size()));
}

Error gave_up(Error error, Duration patience) {
  error.message += " (tried for " + to_text(patience) + ")";
  return error;
}

// Of a submission that may have arrived: `unavailable` would promise that nothing was done.
Error unsettled(Error error) {
  if (error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::deadline_exceeded;
  }
  return error;
}

}  // namespace

struct Client::Call {
  std::string what;  // for messages: "stop job x"
  std::string method = "GET";
  std::string target;
  Bytes body{};
  std::string_view content_type = "application/json";
  std::optional<Duration> timeout{};
  // A repeated call that finds nothing has done its work the first time.
  bool missing_is_done = false;
};

net::Request Client::make_request(const Call& call) const {
  net::Request request{.method = call.method, .target = options_.prefix + call.target};
  if (!options_.token.empty()) {
    request.headers.add("X-Ray-Authorization", "Bearer " + options_.token.reveal());
  }
  if (!call.body.empty()) {
    request.headers.add("Content-Type", std::string(call.content_type));
    request.body_size = call.body.size();
    request.body = net::body_of(call.body);
  }
  return request;
}

// An answer of any status. An error is about effects as those of HttpService are.
Task<Result<Answer>> Client::send_once(const Call& call) {
  const Duration timeout = call.timeout.value_or(options_.request_timeout);
  net::Request request = make_request(call);
  CO_TRY_ASSIGN(net::Response response,
                co_await with_timeout(timeout, call.what, service_.send(std::move(request))));
  Result<Answer> answer = co_await with_timeout(
      timeout, call.what, internal::read_answer(std::move(response), kAnswerBytesMax));
  if (!answer && answer.error().code == ErrorCode::unavailable && call.method != "GET") {
    co_return fail(deadline_exceeded(call.what + ": the answer broke off"));
  }
  co_return answer;
}

// For calls that may be repeated whatever became of the first.
Task<Result<std::string>> Client::fetch(Call call) {
  Retry retry(env_, options_.retry_for, options_.retry_wait_max);
  bool repeated = false;
  for (;;) {
    Result<Answer> answer = co_await send_once(call);
    if (answer && answer->status == 200) {
      co_return std::move(answer->body);
    }
    if (answer && answer->status == 404 && repeated && call.missing_is_done) {
      co_return std::string();
    }
    Error error = answer ? internal::to_error(call.what, *answer) : std::move(answer).error();
    const Effect effect = answer ? internal::effect_of(*answer) : internal::effect_of(error);
    if (effect == Effect::final) {
      if (answer && internal::is_missing_route(*answer)) {
        error.code = ErrorCode::unsupported;
      }
      co_return fail(std::move(error));
    }
    repeated = repeated || effect == Effect::unknown;
    const std::optional<Duration> asked = answer ? answer->retry_after : std::nullopt;
    CO_TRY_ASSIGN(const bool again, co_await retry.wait(asked));
    if (!again) {
      co_return fail(gave_up(std::move(error), options_.retry_for));
    }
  }
}

Task<Result<ServerVersion>> Client::version() {
  if (!version_) {
    Result<std::string> body =
        co_await fetch({.what = "read the version", .target = "/api/version"});
    if (!body) {
      Error error = std::move(body).error();
      if (error.code == ErrorCode::unsupported) {
        error.message = "no Ray jobs API at this address (needs Ray 1.9 or later)";
      }
      co_return fail(std::move(error));
    }
    CO_TRY_ASSIGN(version_, parse_version(*body));
  }
  co_return *version_;
}

// Names what the server lacks, and its version if it can be read.
Task<Error> Client::too_old(std::string what) {
  const Result<ServerVersion> have = co_await version();
  std::string server = "the server";
  if (have) {
    server += " (Ray " + have->ray + ", jobs API version " + std::to_string(have->api) + ")";
  }
  co_return unsupported(server + " does not support " + what);
}

Task<Result<bool>> Client::submitted_by_us(std::string id, std::string mark) {
  Result<Job> job = co_await info(std::move(id));
  if (!job && job.error().code == ErrorCode::not_found) {
    co_return false;
  }
  CO_TRY(job);
  const auto found = job->metadata.find(std::string(kMark));
  if (found == job->metadata.end() || found->second != mark) {
    co_return fail(already_exists("job " + job->submission_id + " already exists"));
  }
  co_return true;
}

Task<Result<void>> Client::submit(JobRequest request) {
  const std::string id = request.submission_id;
  if (id.empty()) {
    co_return fail(invalid_argument("submission id is missing"));
  }
  const std::string mark = env_.random.uuid();
  request.metadata.insert_or_assign(std::string(kMark), mark);
  CO_TRY_ASSIGN(std::string body, to_json(request));
  const Call call{.what = "submit job " + id,
                  .method = "POST",
                  .target = "/api/jobs/",
                  .body = Bytes::from(std::move(body))};
  Retry retry(env_, options_.retry_for, options_.retry_wait_max);
  bool perhaps_there = false;  // an attempt before this one may have arrived
  for (;;) {
    Result<Answer> answer = co_await send_once(call);
    if (answer && answer->status == 200) {
      co_return Result<void>();
    }
    if (std::string field = answer ? internal::unknown_field(*answer) : ""; !field.empty()) {
      co_return fail(co_await too_old("the field " + field));
    }
    Error error = answer ? internal::to_error(call.what, *answer) : std::move(answer).error();
    const Effect effect = answer ? internal::effect_of(*answer) : internal::effect_of(error);
    const bool taken = error.code == ErrorCode::already_exists;
    perhaps_there = perhaps_there || effect == Effect::unknown;
    if (perhaps_there && (taken || effect == Effect::unknown)) {
      Result<bool> ours = co_await submitted_by_us(id, mark);
      if (!ours) {
        co_return fail(unsettled(std::move(ours).error()));
      }
      if (*ours) {
        co_return Result<void>();
      }
    } else if (effect == Effect::final) {
      co_return fail(std::move(error));
    }
    const std::optional<Duration> asked = answer ? answer->retry_after : std::nullopt;
    CO_TRY_ASSIGN(const bool again, co_await retry.wait(asked));
    if (!again) {
      co_return fail(gave_up(std::move(error), options_.retry_for));
    }
  }
}

Task<Result<Job>> Client::info(std::string id) {
  CO_TRY_ASSIGN(const std::string body,
                co_await fetch({.what = "look up job " + id, .target = job_path(id)}));
  co_return parse_job(body);
}

Task<Result<std::vector<Job>>> Client::list() {
  // Without its last slash the path is another one.
  CO_TRY_ASSIGN(const std::string body,
                co_await fetch({.what = "list jobs", .target = "/api/jobs/"}));
  co_return parse_jobs(body);
}

Task<Result<bool>> Client::stop(std::string id) {
  CO_TRY_ASSIGN(const std::string body,
                co_await fetch(
                    {.what = "stop job " + id, .method = "POST", .target = job_path(id, "/stop")}));
  co_return parse_bool_member(body, "stopped");
}

Task<Result<void>> Client::remove(std::string id) {
  Result<std::string> body = co_await fetch({.what = "delete job " + id,
                                             .method = "DELETE",
                                             .target = job_path(id),
                                             .missing_is_done = true});
  if (!body && body.error().code == ErrorCode::unsupported) {
    co_return fail(co_await too_old("deleting jobs (needs jobs API version 4)"));
  }
  CO_TRY(body);
  co_return Result<void>();
}

Task<Result<std::string>> Client::logs(std::string id) {
  CO_TRY_ASSIGN(const std::string body, co_await fetch({.what = "read the log of job " + id,
                                                        .target = job_path(id, "/logs")}));
  co_return parse_text_member(body, "logs");
}

Task<Result<TailEnd>> Client::tail(std::string id, LogSink sink) {
  internal::LogTail log(env_, service_, sink,
                        {.open = options_.request_timeout, .ping = options_.tail_ping_after});
  int quiet = 0;  // connections that brought nothing new, one after the other
  for (;;) {
    const std::uint64_t before = log.shown();
    const Result<void> followed =
        co_await log.follow(make_request({.what = "", .target = job_path(id, "/logs/tail")}));
    if (!followed && followed.error().code == ErrorCode::unsupported) {
      co_return fail(co_await too_old("following logs (needs jobs API version 1)"));
    }
    if (!followed && internal::effect_of(followed.error()) == Effect::final) {
      co_return fail(followed.error().with_context("job " + id));
    }
    // A connection that is over says nothing about the job.
    CO_TRY_ASSIGN(Job job, co_await info(id));
    if (is_terminal(job.status)) {
      TailEnd end{.job = std::move(job)};
      Result<std::string> whole = co_await logs(id);
      if (!whole) {
        end.log_error = std::move(whole).error();
        co_return end;
      }
      CO_TRY(co_await log.finish(*std::move(whole)));
      co_return end;
    }
    quiet = log.shown() == before ? quiet + 1 : 1;
    CO_TRY(co_await sleep_for(
        full_jitter(kTailWaitFirst, options_.retry_wait_max, quiet, env_.random)));
  }
}

Task<Result<bool>> Client::package_exists(std::string uri) {
  CO_TRY_ASSIGN(std::string path, package_path(uri));
  const Result<std::string> found =
      co_await fetch({.what = "look for package " + uri, .target = std::move(path)});
  if (!found && found.error().code == ErrorCode::not_found) {
    co_return false;
  }
  CO_TRY(found);
  co_return true;
}

Task<Result<void>> Client::upload(std::string uri, Bytes content) {
  CO_TRY_ASSIGN(std::string path, package_path(uri));
  CO_TRY(co_await fetch({.what = "upload package " + uri,
                         .method = "PUT",
                         .target = std::move(path),
                         .body = std::move(content),
                         .content_type = "application/octet-stream",
                         .timeout = options_.upload_timeout}));
  co_return Result<void>();
}

Task<Result<void>> Client::upload_missing(std::vector<Package> packages) {
  for (const Package& package : packages) {
    CO_TRY_ASSIGN(const bool there, co_await package_exists(package.uri));
    if (there) {
      continue;
    }
    CO_TRY_ASSIGN(std::string content, co_await run_blocking(env_, [this, &package] {
                    return package_bytes(env_.files, package);
                  }));
    Bytes bytes = Bytes::from(std::move(content));
    CO_TRY(co_await upload(package.uri, std::move(bytes)));
  }
  co_return Result<void>();
}

}  // namespace codeflare::ray
