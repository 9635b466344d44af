#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/secret.h"
#include "checkpoint/store.h"
#include "checkpoint/token.h"
#include "net/http.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::checkpoint {

class Bucket;

namespace internal {
struct JobPath;
}

struct ServiceOptions {
  std::optional<Secret> key{};  // absent: every request is accepted
  Retention retention{};        // of checkpoints that name none
  std::string version{};
  Bucket* bucket = nullptr;  // outlives the service
};

// The store over HTTP (docs/checkpoints.md). Small bodies are read whole, chunks are streamed. The
// store and the registry outlive this.
class Service final : public net::HttpService {
 public:
  Service(Env env, Store& store, ServiceOptions options, MetricsRegistry& metrics);

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  using Answer = Result<net::Response>;

  Task<Answer> serve(net::Request request);
  Answer serve_open(std::string_view path);
  Task<Answer> serve_job(net::Request request, internal::JobPath path);
  Task<Answer> serve_checkpoints(net::Request request, internal::JobPath path);
  Task<Answer> serve_commit(net::Request request, JobKey job, CheckpointId id);
  Task<Answer> serve_latest(JobKey job, bool bucket);
  Task<Result<void>> remove_job(JobKey job);
  Task<Answer> serve_part(net::Request request, JobKey job, CheckpointId id, std::string part);
  Task<Answer> serve_lease(net::Request request, internal::JobPath path);
  Answer list_jobs(const net::Request& request, std::string_view path);
  Answer get_part(const net::Request& request, const JobKey& job, CheckpointId id,
                  const std::string& part);
  Result<void> check_bucket(bool wanted) const;
  Result<TokenScope> scope_of(const net::Request& request) const;
  void refresh_metrics();

  Env env_;
  Store& store_;
  ServiceOptions options_;
  MetricsRegistry& metrics_;
  MetricFamily<Counter>& requests_;
  Counter& bytes_sent_;
};

}  // namespace codeflare::checkpoint
