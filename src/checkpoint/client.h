#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/store.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::checkpoint {

// The verbs of the checkpoint service over any HttpService, which outlives this. Errors carry the
// service's answer when there was one. Requests may be repeated.
//   Client client(http, Secret(token));
//   CO_TRY_ASSIGN(Checkpoint latest, co_await client.latest(job));
class Client {
 public:
  Client(net::HttpService& http, Secret token) : http_(http), token_(std::move(token)) {}

  Task<Result<Checkpoint>> begin(JobKey job, BeginRequest request);
  Task<Result<Chunk>> put(JobKey job, CheckpointId id, PutRequest request, net::Body body);
  Task<Result<Checkpoint>> commit(JobKey job, CheckpointId id);
  Task<Result<void>> abort(JobKey job, CheckpointId id);
  Task<Result<Checkpoint>> latest(JobKey job);
  Task<Result<Checkpoint>> get(JobKey job, CheckpointId id);
  Task<Result<std::vector<Checkpoint>>> list(JobKey job);
  Task<Result<void>> remove(JobKey job, CheckpointId id);
  Task<Result<void>> remove_job(JobKey job);
  Task<Result<std::int64_t>> fence(JobKey job, std::int64_t generation);
  // The body of a part, as it arrives; the size is the part's.
  Task<Result<net::Response>> read(JobKey job, CheckpointId id, std::string part);
  // "": of all namespaces.
  Task<Result<std::vector<JobSummary>>> jobs(std::string ns);

 private:
  struct Call {
    std::string method{};
    std::string target{};
    net::Body body{};
    std::optional<std::size_t> body_size{};
  };
  Task<Result<net::Response>> send(Call call);
  Task<Result<std::string>> text_of(Call call);

  net::HttpService& http_;
  Secret token_;
};

}  // namespace codeflare::checkpoint
