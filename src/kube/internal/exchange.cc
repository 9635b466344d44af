#include "kube/internal/exchange.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "base/log.h"
#include "kube/internal/config_blame.h"
#include "kube/internal/error_body.h"
#include "kube/internal/warnings.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kErrorBytesMax = 4u << 20;
// A server that makes up a new warning each time must not fill the memory.
constexpr std::size_t kWarningsMax = 1'000;

bool is_success(const Call& call, int status) {
  return (status >= 200 && status < 300) || (status == 304 && call.headers.has("if-none-match"));
}

// "Cancelled" is our caller's wish. When the other side stopped for its own reasons, to us it is
// gone.
Task<Error> as_seen_here(Error error) {
  const TaskContext& context = co_await current_context();
  if (error.code == ErrorCode::cancelled && !context.stop.stop_requested()) {
    error.code = ErrorCode::unavailable;
  }
  co_return error;
}

// The answer to a write came, but not whole: it happened, and nobody can say how it ended.
Error broken_answer(const Call& call, Error error) {
  if (error.code == ErrorCode::cancelled) {
    return error;
  }
  if (!call.read() && error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::deadline_exceeded;
  }
  return std::move(error).with_context(call.what() + ": the answer broke off");
}

}  // namespace

// Outcome of the attempts before the running one, for the message of a timeout.
struct Exchange::Progress {
  Instant began;
  Instant deadline;
  int attempt = 1;
  std::optional<Error> last{};
  std::string stopped_at{};  // what the running one waited for when it was given up
};

Exchange::Exchange(Env env, net::HttpService& service, const ClientOptions& options)
    : env_(env), service_(service), options_(options), metrics_(options.metrics, options.host) {}

Task<Result<Client::RawResponse>> Exchange::fetch(Call call) {
  auto shared = std::make_shared<const Call>(std::move(call));
  co_return co_await within_timeout<Client::RawResponse>(std::move(shared), &Exchange::fetch_once);
}

Task<Result<net::Response>> Exchange::open(Call call) {
  auto shared = std::make_shared<const Call>(std::move(call));
  co_return co_await within_timeout<net::Response>(std::move(shared), &Exchange::open_once);
}

template <typename T>
Task<Result<T>> Exchange::within_timeout(
    std::shared_ptr<const Call> call,
    Task<Outcome<T>> (Exchange::*attempt)(std::shared_ptr<const Call>)) {
  const Instant now = env_.loop.now();
  Progress progress{now, after(now, options_.request_timeout)};
  const std::string what = call->what();
  Task<Result<T>> all = attempts<T>(std::move(call), attempt, &progress);
  Result<T> result = co_await with_timeout(options_.request_timeout, what, std::move(all));
  if (!result && result.error().code == ErrorCode::deadline_exceeded &&
      !progress.stopped_at.empty()) {
    result.error().message += ": " + progress.stopped_at;
  }
  if (!result && progress.last && env_.loop.now() >= progress.deadline) {
    result.error().message += " (attempt " + std::to_string(progress.attempt) +
                              "; before that: " + progress.last->message + ")";
  }
  co_return result;
}

template <typename T>
Task<Result<T>> Exchange::attempts(
    std::shared_ptr<const Call> call,
    Task<Outcome<T>> (Exchange::*attempt)(std::shared_ptr<const Call>), Progress* progress) {
  const RetryLimits limits{options_.attempts_max, options_.transport_attempts_max};
  for (;; ++progress->attempt) {
    Outcome<T> outcome = co_await (this->*attempt)(call);
    if (outcome) {
      co_return *std::move(outcome);
    }
    if (const Error& error = outcome.error().error;
        error.code == ErrorCode::cancelled && error.message != cancelled().message) {
      progress->stopped_at = error.message;
    }
    const std::optional<Duration> wait =
        retry_delay(outcome.error(), call->read(), progress->attempt, limits, env_.random);
    // A wait beyond the deadline would only delay the news.
    if (!wait || after(env_.loop.now(), *wait) >= progress->deadline ||
        !may_repeat(*call, outcome.error(), *wait)) {
      co_return fail(given_up(std::move(outcome.error()), *progress, env_.loop.now()));
    }
    note_retry(*call, outcome.error(), *wait);
    progress->last = std::move(outcome.error().error);
    CO_TRY(co_await sleep_for(*wait));
  }
}

// The message reports waits that the server asked for: the last answer alone looks like the first.
Error Exchange::given_up(Failure failure, const Progress& progress, Instant now) {
  if (failure.retry_after && progress.attempt > 1) {
    failure.error.message += " (asked " + std::to_string(progress.attempt) + " times in " +
                             human_duration(now - progress.began) + ")";
  }
  return std::move(failure.error);
}

Task<Exchange::Outcome<net::Response>> Exchange::open_once(std::shared_ptr<const Call> call) {
  const Instant begin = env_.loop.now();
  net::Request request = make_request(*call);
  Result<net::Response> response = co_await service_.send(std::move(request));
  metrics_.answered(call->method, response ? response->status : 0, env_.loop.now() - begin);
  if (!response) {
    Error error = co_await as_seen_here(std::move(response).error());
    if (error.code != ErrorCode::cancelled) {
      error = std::move(error).with_context(call->what());
    }
    co_return std::unexpected(Failure{std::move(error)});
  }
  note_warnings(response->headers);
  if (is_success(*call, response->status)) {
    co_return *std::move(response);
  }
  const int status = response->status;
  const std::optional<Duration> wait = retry_after(response->headers);
  const std::string remark(response->headers.get(kRemarkHeader).value_or(""));
  // A body that breaks off says less, but the status is known.
  Result<std::string> body = co_await net::read_all(std::move(response->body), kErrorBytesMax);
  const TaskContext& context = co_await current_context();
  if (!body && context.stop.stop_requested()) {
    co_return std::unexpected(Failure{cancelled()});
  }
  Error error = with_remark(error_of_answer(call->what(), status, body ? *body : std::string()),
                            status, remark);
  if (wait) {
    error.retry_after = std::chrono::ceil<std::chrono::milliseconds>(*wait);
  }
  co_return std::unexpected(Failure{std::move(error), status, wait});
}

Task<Exchange::Outcome<Client::RawResponse>> Exchange::fetch_once(
    std::shared_ptr<const Call> call) {
  Outcome<net::Response> response = co_await open_once(call);
  if (!response) {
    co_return std::unexpected(std::move(response).error());
  }
  Result<std::string> body =
      co_await net::read_all(std::move(response->body), options_.body_bytes_max);
  if (!body) {
    Error error = co_await as_seen_here(std::move(body).error());
    co_return std::unexpected(Failure{broken_answer(*call, std::move(error))});
  }
  co_return Client::RawResponse{response->status, std::move(response->headers), *std::move(body)};
}

net::Request Exchange::make_request(const Call& call) const {
  net::Request request{.method = call.method, .target = call.target, .headers = call.headers};
  request.headers.set("Accept", call.accept);
  request.headers.set("User-Agent", options_.user_agent);
  if (!call.body.empty()) {
    request.headers.set("Content-Type", call.content_type);
    request.body = net::body_of(call.body);
    request.body_size = call.body.size();
  }
  return request;
}

bool Exchange::may_repeat(const Call& call, const Failure& failure, Duration wait) const {
  return !options_.before_repeat || options_.before_repeat({call.what(), failure.error, wait});
}

void Exchange::note_retry(const Call& call, const Failure& failure, Duration wait) {
  metrics_.retried(call.method, failure.status);
  if (options_.logger != nullptr) {
    options_.logger->debug("request is repeated",
                           {{"request", call.what()}, {"error", failure.error}, {"wait", wait}});
  }
}

void Exchange::note_warnings(const net::Headers& headers) {
  if (options_.logger == nullptr) {
    return;
  }
  for (const net::Headers::Field& field : headers.fields()) {
    if (!net::equal_ignoring_case(field.name, "warning")) {
      continue;
    }
    for (const std::string& text : warning_texts(field.value)) {
      if (warned_.size() < kWarningsMax && warned_.insert(text).second) {
        options_.logger->warn("warning of the server", {{"warning", text}});
      }
    }
  }
}

}  // namespace codeflare::kube::internal
