#include "apiserver/rest/api_service.h"

#include "apiserver/rest/internal/bindings.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/impersonate.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/server.h"
#include "base/async/sleep.h"
#include "base/go_duration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::apiserver {
namespace internal {
namespace {

constexpr auto kConnect =
    std::to_array<std::string_view>({"log", "exec", "attach", "portforward", "proxy"});

constexpr auto kVerbs = std::to_array<std::string_view>(
    {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"});

bool is_connect(const RequestInfo& info) {
  return std::ranges::find(kConnect, info.subresource) != kConnect.end();
}

// Requests whose answer comes from a pod; nodes are not reached this way.
bool is_proxy(const RequestInfo& info) {
  return info.group.empty() && info.subresource == "proxy" &&
         (info.resource == "pods" || info.resource == "services");
}

// Watches and streams last; they are bounded by connections, not by this limit.
bool is_long_running(const RequestInfo& info) {
  return info.is_resource && (info.verb == "watch" || is_connect(info));
}

Access access_of(const RequestInfo& info) {
  Access access{.verb = info.verb};
  if (!info.is_resource) {
    access.path = info.path;
    return access;
  }
  access.group = info.group;
  access.resource = info.resource;
  access.subresource = info.subresource;
  access.ns = info.ns;
  access.name = info.name;
  return access;
}

Result<Form> form_of(const Call& call) {
  TRY_ASSIGN(Form form, negotiate(call.header("Accept"), call.info.verb == "list"));
  const std::string_view include = call.info.query.get("includeObject").value_or("");
  if (form.view == View::table && !include.empty()) {
    if (include == "Object") {
      form.include = IncludeObject::object;
    } else if (include == "None") {
      form.include = IncludeObject::none;
    } else if (include != "Metadata") {
      FieldErrors errors;
      errors.invalid_text("includeObject", include,
                          "must be 'Metadata', 'Object', 'None', or empty");
      return fail(errors.to_error("meta.k8s.io", "TableOptions", ""));
    }
  }
  form.pretty = form.pretty || call.info.query.flag("pretty");
  return form;
}

Task<Result<net::Response>> dispatch_subresource(Call& call) {
  const RequestInfo& info = call.info;
  const auto& subs = call.version->subresources;
  auto sub = std::ranges::find(subs, info.subresource, &Subresource::name);
  if (sub == subs.end() || info.name.empty()) {
    co_return fail(no_such_path());
  }
  if (is_proxy(info)) {
    co_return co_await handle_proxy(call);
  }
  if (is_connect(info)) {
    co_return co_await handle_connect(call);
  }
  if (std::ranges::find(sub->verbs, info.verb) == sub->verbs.end()) {
    co_return fail(method_not_allowed());
  }
  if (info.subresource == "scale" && call.version->scale) {
    co_return co_await handle_scale(call);
  }
  if (info.verb == "get") {
    co_return co_await handle_get(call);
  }
  if (info.verb == "update") {
    co_return co_await handle_update(call);
  }
  if (info.verb == "patch") {
    co_return co_await handle_patch(call);
  }
  co_return fail(
      not_implemented(call.resource->plural + "/" + info.subresource + " is not served here"));
}

Task<Result<net::Response>> dispatch_verb(Call& call) {
  const std::string& verb = call.info.verb;
  if (!call.resource->has_verb(verb)) {
    co_return fail(method_not_allowed());
  }
  if (verb == "get") {
    co_return co_await handle_get(call);
  }
  if (verb == "list") {
    co_return co_await handle_list(call);
  }
  if (verb == "watch") {
    co_return co_await handle_watch(call);
  }
  if (verb == "create") {
    co_return call.info.name.empty() ? co_await handle_create(call) : fail(method_not_allowed());
  }
  if (verb == "deletecollection") {
    co_return co_await handle_delete_collection(call);
  }
  if (verb == "delete") {
    co_return co_await handle_delete(call);
  }
  // PUT and PATCH of a collection mean nothing.
  if (call.info.name.empty()) {
    co_return fail(method_not_allowed());
  }
  if (verb == "update") {
    co_return co_await handle_update(call);
  }
  if (verb == "patch") {
    co_return co_await handle_patch(call);
  }
  co_return fail(method_not_allowed());
}

// The resource must stand where the path says: namespaced kinds under a namespace for everything
// but looking across all of them, the others never. Deleting is not looking: one request must not
// empty all namespaces.
bool scope_fits(const Call& call) {
  const RequestInfo& info = call.info;
  if (!call.resource->namespaced) {
    return info.ns.empty() || call.resource->qualified_name() == "namespaces";
  }
  return !info.ns.empty() || info.verb == "list" || info.verb == "watch";
}

// Across all namespaces upstream's router knows built-in collections by their GET and rejects other
// methods; a custom one is not found.
Error wrong_scope(const Call& call) {
  const bool collection = call.resource->namespaced && call.info.name.empty();
  return collection && !call.resource->custom ? method_not_allowed() : no_such_path();
}

// Upstream's router gives HEAD to proxies only; custom resources go by the verb, which is GET's.
bool method_fits(const Call& call) {
  return call.request.method != "HEAD" || call.resource->custom || call.info.subresource == "proxy";
}

void warn(Call& call) {
  const bool writes =
      call.info.verb == "create" || call.info.verb == "update" || call.info.verb == "patch";
  if (call.version->deprecated) {
    call.warnings.push_back(call.version->deprecation_warning.empty()
                                ? call.api_version() + " " + call.resource->kind + " is deprecated"
                                : call.version->deprecation_warning);
  }
  if (writes && call.resource->group == "admissionregistration.k8s.io") {
    call.warnings.push_back("this server stores " + call.resource->plural +
                            " but does not call them");
  }
}

Task<Result<net::Response>> dispatch(Call& call) {
  const RequestInfo& info = call.info;
  call.resource = call.server.parts.registry.find(info.group, info.version, info.resource);
  if (call.resource == nullptr) {
    co_return fail(no_such_path());
  }
  call.version = call.resource->find_version(info.version);
  VirtualResource* handler = call.server.find_virtual(info.group, info.resource, info.subresource);
  if (!scope_fits(call) && handler == nullptr) {
    co_return fail(wrong_scope(call));
  }
  if (!method_fits(call)) {
    co_return fail(method_not_allowed());
  }
  // Accept of a proxied request is for the pod.
  if (!is_proxy(info)) {
    CO_TRY_ASSIGN(call.form, form_of(call));
  }
  warn(call);
  if (handler != nullptr) {
    if (info.verb != "create") {
      co_return fail(method_not_allowed());
    }
    co_return co_await handle_virtual(call, *handler);
  }
  if (!info.subresource.empty()) {
    co_return co_await dispatch_subresource(call);
  }
  co_return co_await dispatch_verb(call);
}

// Who asks, and may they?
Task<Result<void>> admit_user(Call& call) {
  ApiService::Parts& parts = call.server.parts;
  Result<User> user = co_await parts.authenticator.authenticate(call.request);
  if (!user) {
    if (user.error().code == ErrorCode::unauthenticated) {
      co_return fail(unauthorized());
    }
    co_return fail(std::move(user).error());
  }
  CO_TRY_ASSIGN(call.user, impersonated(*user, call.request.headers, parts.authorizer));
  if (call.user.is_admin()) {
    co_return {};
  }
  const Access access = access_of(call.info);
  Authorizer::Decision decision = parts.authorizer.authorize(call.user, access);
  if (!decision.allowed) {
    co_return fail(forbidden_error(call.user, access, decision.reason));
  }
  co_return {};
}

Task<Result<net::Response>> serve(Call& call) {
  CO_TRY(co_await admit_user(call));
  if (!call.info.is_resource) {
    co_return co_await handle_path(call);
  }
  const auto group = call.server.groups.find(call.info.group);
  if (group == call.server.groups.end()) {
    co_return co_await dispatch(call);
  }
  if (call.info.verb != "get" && call.info.verb != "list") {
    co_return fail(method_not_allowed());
  }
  co_return co_await group->second(call.info, call.request);
}

// The timeout that the client requests (?timeout=), within the server's limit.
Result<Duration> timeout_of(const Server& server, const RequestInfo& info) {
  const std::string_view text = info.query.get("timeout").value_or("");
  if (text.empty()) {
    return server.options.request_timeout;
  }
  const std::optional<Duration> asked = go_duration(text);
  if (!asked) {
    return fail(
        bad_request("invalid timeout specified in the request URL - time: invalid duration \"" +
                    std::string(text) + "\""));
  }
  const bool shorter = *asked > Duration::zero() && *asked < server.options.request_timeout;
  return shorter ? *asked : server.options.request_timeout;
}

Task<Result<net::Response>> serve_in_time(Call& call) {
  CO_TRY_ASSIGN(Duration limit, timeout_of(call.server, call.info));
  Task<Result<net::Response>> serving = serve(call);
  Result<net::Response> response = co_await with_timeout(limit, "request", std::move(serving));
  if (!response && response.error().code == ErrorCode::deadline_exceeded &&
      response.error().detail == nullptr) {
    co_return fail(timed_out());
  }
  co_return response;
}

// Until the head of its response a request keeps the service from closing.
class Running {
 public:
  explicit Running(Server& server) : server_(server) { ++server_.running; }
  ~Running() {
    if (--server_.running == 0) {
      server_.idle.notify_all();
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Server& server_;
};

// The metrics have no duration of requests rejected at the door.
void record(const Call& call, int status, std::optional<Duration> took) {
  const RequestInfo& info = call.info;
  // Only names that are served become labels: strangers must not grow the metrics.
  const bool known = call.resource != nullptr;
  const std::string_view verb =
      std::ranges::find(kVerbs, info.verb) != kVerbs.end() ? std::string_view(info.verb) : "other";
  const std::string_view group = known ? std::string_view(info.group) : "";
  const std::string_view version = known ? std::string_view(info.version) : "";
  const std::string_view resource = known ? std::string_view(info.resource) : "";
  const std::string_view sub =
      known && call.version != nullptr &&
              std::ranges::find(call.version->subresources, info.subresource, &Subresource::name) !=
                  call.version->subresources.end()
          ? std::string_view(info.subresource)
          : "";
  const std::string_view scope = !known               ? ""
                                 : !info.name.empty() ? "resource"
                                 : !info.ns.empty()   ? "namespace"
                                                      : "cluster";
  const std::string code = std::to_string(status);
  call.server.metrics.requests.with({verb, group, version, resource, sub, scope, code}).add();
  if (took && info.verb != "watch") {
    call.server.metrics.durations.with({verb, group, version, resource, sub, scope})
        .observe(std::chrono::duration<double>(*took).count());
  }
}

// Only clients are counted.
enum class Caller : std::uint8_t { client, own_process };

Task<Result<net::Response>> answer(Server& server, net::Request request, Caller caller) {
  Result<RequestInfo> parsed = RequestInfo::parse(request.method, request.target);
  std::optional<Error> refused;
  if (!parsed) {
    refused = bad_request(parsed.error().message);
  }
  RequestInfo info = parsed ? *std::move(parsed) : RequestInfo{};
  const bool health = !info.is_resource && is_health_path(info.path);
  const bool long_running = is_long_running(info);
  const bool counted = caller == Caller::client && !long_running && !health;
  Call call{.server = server,
            .info = std::move(info),
            .request = std::move(request),
            .place = counted ? RequestSlot(server.in_flight) : RequestSlot()};
  if (!refused && !health && server.stopping.stop_requested()) {
    refused = unavailable("the server is shutting down");
  }
  if (!refused) {
    // Before the body as well: a server that has no place now need not wait for it to say so.
    if (Result<void> taken = call.place.take(); !taken) {
      refused = std::move(taken).error();
    }
  }
  if (refused) {
    net::Response response = error_response(*refused);
    record(call, response.status, std::nullopt);
    co_return response;
  }
  call.enter_step();
  Running running(server);
  const Instant begun = server.env().clock.now();
  Task<Result<net::Response>> serving = long_running ? serve(call) : serve_in_time(call);
  Result<net::Response> response = co_await std::move(serving);
  call.enter_step();
  if (!response && response.error().code == ErrorCode::cancelled) {
    co_return response;
  }
  net::Response out = response ? *std::move(response) : error_response(response.error());
  add_warnings(out, call.warnings);
  if (!out.headers.has("Cache-Control")) {
    out.headers.set("Cache-Control", "no-cache, private");
  }
  record(call, out.status, server.env().clock.now() - begun);
  if (call.place.held() && out.body != nullptr) {
    out.body = std::make_unique<PlacedBody>(std::move(out.body), std::move(call.place));
  }
  co_return out;
}

}  // namespace

ServerMetrics::ServerMetrics(MetricsRegistry& metrics)
    : requests(metrics.counters(
          "apiserver_request_total", "Requests by what they were about and the status they got.",
          {"verb", "group", "version", "resource", "subresource", "scope", "code"})),
      durations(metrics.histograms(
          "apiserver_request_duration_seconds", "Time from the request to the response's head.",
          {"verb", "group", "version", "resource", "subresource", "scope"})),
      in_flight(
          metrics.gauges("apiserver_current_inflight_requests",
                         "Clients' requests under way, from the end of their body on; watches "
                         "not counted.",
                         {"request_kind"})),
      watches(metrics.gauge("apiserver_longrunning_requests", "Watches under way.")) {}

Server::Server(ApiService::Parts parts_in, ApiService::Options options_in)
    : parts(std::move(parts_in)),
      options(options_in),
      metrics(parts.metrics),
      in_flight(std::make_shared<InFlight>(options.in_flight_max, metrics.in_flight.with({"all"}),
                                           parts.env.clock)),
      bodies(options.unfinished_bytes_max),
      steps(parts.env, parts.logger, options.slow_step) {}

VirtualResource* Server::find_virtual(std::string_view group, std::string_view resource,
                                      std::string_view subresource) {
  auto at = virtuals.find({std::string(group), std::string(resource), std::string(subresource)});
  return at == virtuals.end() ? nullptr : at->second.get();
}

}  // namespace internal

struct ApiService::Impl : internal::Server {
  using Server::Server;

  class OwnCalls final : public net::HttpService {
   public:
    explicit OwnCalls(Server& server) : server_(server) {}
    Task<Result<net::Response>> send(net::Request request) override {
      return internal::answer(server_, std::move(request), internal::Caller::own_process);
    }

   private:
    Server& server_;
  };
  OwnCalls own_calls{*this};
};

ApiService::ApiService(Parts parts, Options options)
    : impl_(std::make_unique<Impl>(std::move(parts), options)) {
  internal::add_pod_calls(*this, *impl_);
}

ApiService::~ApiService() = default;

void ApiService::add(std::string group, std::string resource, std::string subresource,
                     std::unique_ptr<VirtualResource> handler) {
  impl_->virtuals.insert_or_assign({std::move(group), std::move(resource), std::move(subresource)},
                                   std::move(handler));
}

void ApiService::add_group(ServedGroup group) {
  for (const ServedGroup::Kind& kind : group.kinds) {
    Resource resource{.group = group.group,
                      .plural = kind.plural,
                      .singular = kind.singular,
                      .kind = kind.kind,
                      .list_kind = kind.kind + "List",
                      .namespaced = kind.namespaced,
                      .verbs = {"get", "list"}};
    resource.versions.push_back({.version = group.version});
    for (const std::string& sub : kind.subresources) {
      resource.verbs.clear();
      resource.versions.back().subresources.push_back(
          {.name = sub, .kind = kind.kind, .verbs = {"get"}});
    }
    resource.collection = impl_->parts.store.collection(resource.qualified_name());
    impl_->parts.registry.add(std::move(resource));
  }
  impl_->groups.insert_or_assign(std::move(group.group), std::move(group.handler));
}

void ApiService::add_path(std::string prefix, PathHandler handler) {
  impl_->paths.emplace_back(std::move(prefix), std::move(handler));
}

Task<Result<net::Response>> ApiService::send(net::Request request) {
  return internal::answer(*impl_, std::move(request), internal::Caller::client);
}

net::HttpService& ApiService::uncounted() {
  return impl_->own_calls;
}

Task<void> ApiService::close() {
  impl_->stopping.request_stop();
  while (impl_->running > 0) {
    co_await impl_->idle.wait_uncancellable();
  }
}

}  // namespace codeflare::apiserver
