#include "apiserver/rest/testing/api_world.h"

#include "apiserver/kinds/strategies.h"
#include "base/async/sleep.h"
#include "json/write.h"

#include <charconv>

namespace codeflare::apiserver {
namespace {

constexpr std::size_t kBodyMax = 256u << 20;

Answer to_answer(net::Response head, std::string body) {
  Answer answer{
      .status = head.status, .headers = head.headers, .body = std::move(body), .document = {}};
  if (Result<json::Document> document = json::parse(answer.body)) {
    answer.document = *std::move(document);
  }
  return answer;
}

Task<Result<Answer>> read_answer(net::Response response) {
  std::string body;
  if (response.body != nullptr) {
    net::Body stream = std::move(response.body);
    CO_TRY_ASSIGN(body, co_await net::read_all(std::move(stream), kBodyMax));
  }
  co_return to_answer(std::move(response), std::move(body));
}

Task<Result<Bytes>> read_piece(net::BodyStream& body) {
  co_return co_await body.read();
}

Resource custom_resource(Store& store, std::string group, std::string plural, std::string kind) {
  static const schema::Node kAny{.shape = schema::Shape::structure, .preserve_unknown = true};
  Resource resource;
  resource.group = std::move(group);
  resource.plural = std::move(plural);
  resource.kind = std::move(kind);
  resource.list_kind = resource.kind + "List";
  resource.singular = resource.plural.substr(0, resource.plural.size() - 1);
  resource.verbs = {"delete", "deletecollection", "get",    "list",
                    "patch",  "create",           "update", "watch"};
  ServedVersion version{.version = "v1", .schema = &kAny};
  version.has_status = true;
  version.subresources.push_back(
      {.name = "status", .kind = resource.kind, .verbs = {"get", "patch", "update"}});
  version.subresources.push_back({.name = "scale",
                                  .kind = "Scale",
                                  .group = "autoscaling",
                                  .version = "v1",
                                  .verbs = {"get", "patch", "update"}});
  version.scale = ScaleSubresource{.spec_replicas_path = ".spec.replicas",
                                   .status_replicas_path = ".status.replicas",
                                   .label_selector_path = ".status.selector"};
  resource.versions.push_back(version);
  version.version = "v1beta1";
  resource.versions.push_back(version);
  resource.custom = true;
  resource.collection = store.collection(resource.qualified_name());
  return resource;
}

}  // namespace

const json::Value* Answer::find(std::string_view path) const {
  const json::Value* value = &document.root;
  while (value != nullptr && !path.empty()) {
    // A member whose own name has dots wins.
    if (const json::Value* whole = value->find(path)) {
      return whole;
    }
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (value->is_array()) {
      std::size_t index = 0;
      std::from_chars(key.data(), key.data() + key.size(), index);
      value = index < value->items().size() ? &value->items()[index] : nullptr;
    } else {
      value = value->find(key);
    }
  }
  return value;
}

std::string Answer::at(std::string_view path) const {
  const json::Value* value = find(path);
  if (value == nullptr) {
    return "<absent>";
  }
  return value->is_string() ? std::string(value->as_string()) : json::to_text(*value);
}

std::size_t Answer::size(std::string_view path) const {
  const json::Value* value = find(path);
  return value == nullptr ? 0 : value->size();
}

WatchLines::WatchLines(Loop& loop, net::Response response)
    : loop_(loop), status_(response.status), body_(std::move(response.body)) {}

std::optional<Answer> WatchLines::next() {
  while (body_ != nullptr) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return to_answer({.status = status_}, std::move(line));
    }
    std::optional<Result<Bytes>> piece = codeflare::run(loop_, read_piece(*body_));
    if (!piece || !*piece || (*piece)->empty()) {
      body_ = nullptr;
      break;
    }
    buffer_.append((*piece)->view());
  }
  return std::nullopt;
}

std::string WatchLines::next_text() {
  std::optional<Answer> event = next();
  if (!event) {
    return "end";
  }
  const std::string type = event->at("type");
  return type == "BOOKMARK" || type == "ERROR" ? type
                                               : type + " " + event->at("object.metadata.name");
}

ApiWorld::ApiWorld(Options options) : sim_(SimEnv::Options{.seed = options.seed}) {
  auto opened = codeflare::run(
      env().loop, Store::open(env(), open_memory_log(disk_), options.store, {}, metrics_));
  store_ = *std::move(*opened);
  add_builtin_resources(
      registry_, [this](std::string_view name) { return store_->collection(name); },
      [](Resource& resource) {
        if (auto strategy = builtin_strategy(resource.group, resource.plural)) {
          resource.strategy = std::move(strategy);
        }
      });
  service_ = std::make_unique<ApiService>(ApiService::Parts{.env = env(),
                                                            .store = *store_,
                                                            .registry = registry_,
                                                            .authenticator = *this,
                                                            .authorizer = *this,
                                                            .admission = options.admission,
                                                            .connect = options.connect,
                                                            .logger = {},
                                                            .metrics = metrics_},
                                          options.service);
  client_ = std::make_unique<net::InProcessService>(*service_, net::Peer{.address = "test"});
}

ApiWorld::~ApiWorld() {
  codeflare::run(env().loop, service_->close());
  codeflare::run(env().loop, store_->close());
}

Task<Result<User>> ApiWorld::authenticate(const net::Request& request) {
  if (std::optional<std::string_view> name = request.headers.get("X-Test-User")) {
    if (*name == "anonymous") {
      co_return fail(unauthenticated("nobody"));
    }
    co_return User{.name = std::string(*name), .uid = {}, .groups = {"system:authenticated"}};
  }
  co_return user;
}

Authorizer::Decision ApiWorld::authorize(const User& who, const Access& access) const {
  return {.allowed = who.is_admin() || allow(who, access)};
}

Task<Result<net::Response>> ApiWorld::send(net::Request request) {
  co_return co_await client_->send(std::move(request));
}

Answer ApiWorld::request(net::Request request) {
  Result<net::Response> response = run(send(std::move(request)));
  if (!response) {
    return {.status = 0, .headers = {}, .body = response.error().to_string(), .document = {}};
  }
  Result<Answer> answer = run(read_answer(*std::move(response)));
  return answer
             ? *std::move(answer)
             : Answer{
                   .status = -1, .headers = {}, .body = answer.error().to_string(), .document = {}};
}

Answer ApiWorld::get(std::string target, net::Headers headers) {
  return request({.method = "GET", .target = std::move(target), .headers = std::move(headers)});
}

Answer ApiWorld::post(std::string target, std::string body, net::Headers headers) {
  return request({.method = "POST",
                  .target = std::move(target),
                  .headers = std::move(headers),
                  .body = net::body_of(std::move(body))});
}

Answer ApiWorld::put(std::string target, std::string body, net::Headers headers) {
  return request({.method = "PUT",
                  .target = std::move(target),
                  .headers = std::move(headers),
                  .body = net::body_of(std::move(body))});
}

Answer ApiWorld::patch(std::string target, std::string_view type, std::string body,
                       net::Headers headers) {
  const bool apply = type == "apply";
  headers.set("Content-Type",
              "application/" + std::string(type) + (apply ? "-patch+yaml" : "-patch+json"));
  return request({.method = "PATCH",
                  .target = std::move(target),
                  .headers = std::move(headers),
                  .body = net::body_of(std::move(body))});
}

Answer ApiWorld::remove(std::string target, std::string body, net::Headers headers) {
  net::Request request{
      .method = "DELETE", .target = std::move(target), .headers = std::move(headers)};
  if (!body.empty()) {
    request.body = net::body_of(std::move(body));
  }
  return this->request(std::move(request));
}

WatchLines ApiWorld::watch(std::string target, net::Headers headers) {
  net::Request request{.target = std::move(target), .headers = std::move(headers)};
  Result<net::Response> response = run(send(std::move(request)));
  return WatchLines(env().loop, response ? *std::move(response) : net::Response{.status = 0});
}

void ApiWorld::advance(Duration duration) {
  codeflare::run(env().loop, sleep_for(duration));
}

void ApiWorld::add_custom(std::string group, std::string plural, std::string kind) {
  registry_.add(custom_resource(*store_, std::move(group), std::move(plural), std::move(kind)));
}

}  // namespace codeflare::apiserver
