#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "net/http.h"
#include "ray/job.h"
#include "ray/runtime_env.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::ray {

namespace internal {
struct Answer;
}

struct ClientOptions {
  // Path under which the dashboard is, without a slash at its end: empty for its own address,
  // /api/v1/namespaces/NS/services/NAME-head-svc:dashboard/proxy behind an API server.
  std::string prefix;
  // Of a cluster with token authentication. Travels as X-Ray-Authorization: an API server takes
  // Authorization for itself.
  Secret token;

  Duration request_timeout = std::chrono::seconds(60);
  // For uploads, which carry up to 100 MiB.
  Duration upload_timeout = std::chrono::minutes(10);
  // How long a call is tried again while the dashboard is not reachable or not ready yet. The
  // caller's own deadline holds too.
  Duration retry_for = std::chrono::minutes(1);
  Duration retry_wait_max = std::chrono::seconds(5);
  // A tail that hears nothing for this long asks whether the other side is still there.
  Duration tail_ping_after = std::chrono::seconds(30);
};

// How a tail ended: the job is over.
struct TailEnd {
  Job job;
  // Set when the end of the log could not be read, although the job has ended.
  std::optional<Error> log_error{};
};

// Receives the log in pieces of whole or broken lines, in order, each byte once. An error ends the
// tail.
using LogSink = std::function<Task<Result<void>>(std::string text)>;

// Ray's jobs API (docs/decisions/0009-ray-jobs.md). The service leads to a dashboard, by whichever
// way; it outlives this. Each call repeats itself while that can do no harm; errors name the call
// and carry the server's last line:
//   not_found, already_exists, unauthenticated, permission_denied  as they say
//   invalid_argument   the server did not understand the request, or the job is a driver
//   failed_precondition  delete() of a job that has not ended
//   unsupported        the server is too old for this; names what is missing and the versions
//   unavailable        not reachable for retry_for; surely nothing was done
//   deadline_exceeded  no answer, and asking did not tell either
class Client {
 public:
  Client(Env env, net::HttpService& service, ClientOptions options)
      : env_(env), service_(service), options_(std::move(options)) {}

  Task<Result<ServerVersion>> version();

  // Accepted at most once. A lost answer is settled by asking for the id; a job of that id which
  // was not submitted by this call is already_exists.
  Task<Result<void>> submit(JobRequest request);
  // By submission id, or by Ray's job id.
  Task<Result<Job>> info(std::string id);
  // Submitted jobs and other drivers, as the server orders them.
  Task<Result<std::vector<Job>>> list();
  // True when the job was running; it ends a moment later.
  Task<Result<bool>> stop(std::string id);
  // The record of a job that has ended. Fine when a repeated call finds it gone.
  Task<Result<void>> remove(std::string id);
  // The whole log so far.
  Task<Result<std::string>> logs(std::string id);
  // Follows the log to the job's end. A connection that breaks is made anew and goes on where it
  // broke; one that closes is an end only if the job has ended. The sink outlives the task.
  Task<Result<TailEnd>> tail(std::string id, LogSink sink);

  // Asking also keeps the package for some minutes.
  Task<Result<bool>> package_exists(std::string uri);
  Task<Result<void>> upload(std::string uri, Bytes content);
  // Packs and uploads what the server lacks.
  Task<Result<void>> upload_missing(std::vector<Package> packages);

 private:
  struct Call;

  net::Request make_request(const Call& call) const;
  Task<Result<internal::Answer>> send_once(const Call& call);
  Task<Result<std::string>> fetch(Call call);
  Task<Error> too_old(std::string what);
  Task<Result<bool>> submitted_by_us(std::string id, std::string mark);

  Env env_;
  net::HttpService& service_;
  ClientOptions options_;
  std::optional<ServerVersion> version_;
};

}  // namespace codeflare::ray
