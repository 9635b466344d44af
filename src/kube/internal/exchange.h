#pragma once

#include "base/async/task.h"
#include "base/bytes.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/internal/rest_metrics.h"
#include "kube/internal/retry_policy.h"
#include "net/http.h"

#include <expected>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace codeflare::kube::internal {

// One request as the client means it; sent several times when retries allow.
struct Call {
  std::string method = "GET";
  std::string target;
  std::string accept = "application/json";
  std::string content_type;
  Bytes body;
  net::Headers headers;

  bool read() const { return method == "GET" || method == "HEAD"; }
  // "GET /api/v1/pods": the query is left out, it may be long.
  std::string what() const { return method + " " + target.substr(0, target.find('?')); }
};

// Sends calls: retries, deadlines, errors out of answers, metrics and the server's warnings.
class Exchange {
 public:
  Exchange(Env env, net::HttpService& service, const ClientOptions& options);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The whole answer within the request timeout.
  Task<Result<Client::RawResponse>> fetch(Call call);
  // An answer whose body is read later; the timeout covers its head alone.
  Task<Result<net::Response>> open(Call call);

 private:
  template <typename T>
  using Outcome = std::expected<T, Failure>;
  struct Progress;

  template <typename T>
  Task<Result<T>> within_timeout(
      std::shared_ptr<const Call> call,
      Task<Outcome<T>> (Exchange::*attempt)(std::shared_ptr<const Call>));
  template <typename T>
  Task<Result<T>> attempts(std::shared_ptr<const Call> call,
                           Task<Outcome<T>> (Exchange::*attempt)(std::shared_ptr<const Call>),
                           Progress* progress);
  Task<Outcome<Client::RawResponse>> fetch_once(std::shared_ptr<const Call> call);
  Task<Outcome<net::Response>> open_once(std::shared_ptr<const Call> call);

  static Error given_up(Failure failure, const Progress& progress, Instant now);
  bool may_repeat(const Call& call, const Failure& failure, Duration wait) const;

  net::Request make_request(const Call& call) const;
  void note_warnings(const net::Headers& headers);
  void note_retry(const Call& call, const Failure& failure, Duration wait);

  Env env_;
  net::HttpService& service_;
  const ClientOptions& options_;
  RestMetrics metrics_;
  std::set<std::string> warned_;
};

}  // namespace codeflare::kube::internal
