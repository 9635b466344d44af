#include "controllers/rayjob/ray_dashboard.h"

#include "net/url.h"

#include <utility>

namespace codeflare::controllers::rayjob {

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

}  // namespace

ray::Client RayDashboards::client_of(const model::ObjectKey& service) {
  return {env_,
          api_,
          {.prefix = "/api/v1/namespaces/" + net::percent_encode(service.ns) + "/services/" +
                     net::percent_encode(service.name) + ":dashboard/proxy",
           .request_timeout = kPatience,
           .retry_for = Duration::zero()}};
}

Task<Report> RayDashboards::look(model::ObjectKey service, std::string id) {
  ray::Client client = client_of(service);
  Result<ray::Job> job = co_await client.info(std::move(id));
  if (job) {
    co_return Report{Report::Kind::present, *std::move(job)};
  }
  // A service that does not exist yet answers 404 too, but has no version.
  if (job.error().code == ErrorCode::not_found && co_await client.version()) {
    co_return Report{Report::Kind::absent};
  }
  co_return Report{};
}

Task<Result<void>> RayDashboards::submit(model::ObjectKey service, ray::JobRequest request) {
  ray::Client client = client_of(service);
  Result<void> done = co_await client.submit(std::move(request));
  if (!done && done.error().code == ErrorCode::already_exists) {
    co_return Result<void>();
  }
  co_return done;
}

Task<Result<void>> RayDashboards::stop(model::ObjectKey service, std::string id) {
  ray::Client client = client_of(service);
  const Result<bool> done = co_await client.stop(std::move(id));
  if (!done && done.error().code != ErrorCode::not_found) {
    co_return fail(done.error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers::rayjob
