#include "sdk/internal/job_call.h"

#include "json/parse.h"
#include "net/client.h"
#include "net/proxy.h"

#include <utility>

namespace codeflare::sdk::internal {

namespace {

using json::Value;

// Adds the caller's own headers to every request.
class WithHeaders final : public net::HttpService {
 public:
  WithHeaders(std::unique_ptr<net::HttpService> target, std::map<std::string, std::string> headers)
      : target_(std::move(target)), headers_(std::move(headers)) {}

  Task<Result<net::Response>> send(net::Request request) override {
    for (const auto& [name, value] : headers_) {
      request.headers.set(name, value);
    }
    return target_->send(std::move(request));
  }

 private:
  std::unique_ptr<net::HttpService> target_;
  std::map<std::string, std::string> headers_;
};

struct Dialer {
  Env env;
  net::TlsClientOptions tls;
  std::map<std::string, std::string> headers;

  Result<std::unique_ptr<net::HttpService>> operator()(net::Url url) const {
    net::ClientOptions options{.tls = tls};
    TRY_ASSIGN(options.proxy, net::proxy_for(url, env.variables));
    TRY_ASSIGN(std::unique_ptr<net::HttpClient> client,
               net::HttpClient::create(env, std::move(url), std::move(options)));
    return std::make_unique<WithHeaders>(std::move(client), headers);
  }
};

Result<Dialer> dialer_of(const Call& call) {
  Dialer dialer{call.context.env, {.insecure = call.flag("insecure")}, call.texts("headers")};
  if (const std::string file = call.text("ca_file"); !file.empty()) {
    TRY_ASSIGN(dialer.tls.ca_bundle_pem, call.context.env.files.read(file));
  }
  return dialer;
}

}  // namespace

Task<Result<net::Response>> NoServer::send(net::Request) {
  co_return fail(internal_error("a call with an address has no API server"));
}

namespace {

Task<Result<std::unique_ptr<JobCall>>> open_server(const Call& call) {
  auto made = std::make_unique<JobCall>();
  made->target.address = call.text("address");
  JobsOptions options;
  if (const std::string base = call.text("base_directory"); !base.empty()) {
    options.base_directory = base;
  }
  if (const Duration patience = call.seconds("patience"); patience > Duration()) {
    options.client.retry_for = patience;
  }
  net::HttpService* service = &made->nowhere;
  if (made->target.address.empty()) {
    CO_TRY_ASSIGN(made->server, co_await open(call));
    service = &made->server.connection->service();
  } else {
    CO_TRY_ASSIGN(options.dial, dialer_of(call));
    made->server.client = std::make_unique<kube::Client>(call.context.env, made->nowhere);
    made->server.discovery = std::make_unique<kube::Discovery>(*made->server.client);
  }
  made->jobs = std::make_unique<Jobs>(call.context.env, *service, *made->server.client,
                                      *made->server.discovery, std::move(options));
  made->target.cluster = {made->server.ns, call.text("cluster")};
  co_return made;
}

}  // namespace

Task<Result<std::unique_ptr<JobCall>>> open_jobs(const Call& call) {
  CO_TRY_ASSIGN(std::unique_ptr<JobCall> made, co_await open_server(call));
  if (made->target.address.empty() && made->target.cluster.name.empty()) {
    CO_TRY_ASSIGN(made->target.cluster, co_await made->jobs->only_cluster(made->server.ns));
  }
  co_return made;
}

Task<Result<std::unique_ptr<JobCall>>> open_one(const Call& call) {
  CO_TRY_ASSIGN(std::unique_ptr<JobCall> made, co_await open_server(call));
  JobName name{.ns = made->server.ns,
               .name = call.text("name"),
               .cluster = made->target.cluster.name,
               .address = made->target.address};
  CO_TRY_ASSIGN(made->handle,
                co_await open_job(*made->jobs, *made->server.client, std::move(name)));
  co_return made;
}

Value described(json::Arena& arena, const JobInfo& job) {
  Value object = to_json(arena, job);
  object.set_static(arena, "line", Value::string(arena, progress_line(job)));
  object.set_static(arena, "nodeId", Value::string(arena, job.node_id));
  const auto milliseconds = [&](const std::optional<WallTime>& time) {
    return time ? Value::integer(arena, std::chrono::duration_cast<std::chrono::milliseconds>(
                                            time->time_since_epoch())
                                            .count())
                : Value();
  };
  object.set_static(arena, "startMs", milliseconds(job.started));
  object.set_static(arena, "endMs", milliseconds(job.ended));
  const Result<json::Document> environment = json::parse(job.runtime_env);
  object.set_static(arena, "runtimeEnv",
                    environment ? environment->root.clone(arena) : Value::object());
  return object;
}

std::string submitted(const std::string& name, const std::vector<std::string>& notes) {
  return written([&](json::Arena& arena) {
    Value lines = Value::array();
    for (const std::string& note : notes) {
      lines.push_back(arena, Value::string(arena, note));
    }
    Value answer = Value::object();
    answer.set_static(arena, "name", Value::string(arena, name));
    answer.set_static(arena, "notes", lines);
    return answer;
  });
}

}  // namespace codeflare::sdk::internal
