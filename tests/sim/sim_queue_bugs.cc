#include "tests/sim/sim_queue_bugs.h"

#include "json/parse.h"
#include "json/write.h"
#include "tests/sim/event_filter.h"

#include <memory>
#include <utility>

namespace codeflare::sim {

namespace {

constexpr std::size_t kBodyMax = 16u << 20;
constexpr std::uint64_t kBindingsBetweenLosses = 3;
constexpr std::string_view kUnheardNode = R"("name":"n1")";

std::string path_of(const std::string& target) {
  return target.substr(0, target.find('?'));
}

// "jobs" in /apis/batch/v1/namespaces/default/jobs/a
bool is_of(std::string_view path, std::string_view resource) {
  const std::string within = "/" + std::string(resource) + "/";
  return path.contains(within) || path.ends_with(within.substr(0, within.size() - 1));
}

// 4 CPUs look like 94.
void enlarge(std::string& object) {
  constexpr std::string_view kAmount = R"("cpu":")";
  for (std::size_t at = object.find(kAmount); at != std::string::npos;
       at = object.find(kAmount, at + kAmount.size())) {
    object.insert(at + kAmount.size(), "9");
  }
}

bool is_item(std::string_view path, std::string_view body) {
  return (path.ends_with("/jobs") || path.ends_with("/pods") || path.ends_with("/rayclusters")) &&
         body.contains(R"("kind":"AppWrapper")");
}

std::string with_another_name(const std::string& body) {
  Result<json::Document> object = json::parse(body);
  json::Value* meta = object ? object->root.find("metadata") : nullptr;
  if (meta == nullptr) {
    return body;
  }
  const std::string name = std::string(meta->string_or_empty("name")) + "-again";
  meta->set(object->arena, "name", json::Value::string(object->arena, name));
  return json::to_text(object->root);
}

}  // namespace

Task<Result<net::Response>> BuggyService::send(net::Request request) {
  if (request.method != "GET") {
    co_return co_await write(std::move(request));
  }
  if (request.target.contains("watch=")) {
    co_return co_await watch(std::move(request));
  }
  if (bug_ == QueueBug::item_not_seen && path_of(request.target).contains("/jobs/")) {
    co_return net::make_response(404, "text/plain", Bytes::from_static("not seen\n"));
  }
  co_return co_await target_.send(std::move(request));
}

Task<Result<net::Response>> BuggyService::watch(net::Request request) {
  const std::string path = path_of(request.target);
  Result<net::Response> response = co_await target_.send(std::move(request));
  if (response && response->status == 200 && response->body != nullptr) {
    response->body = std::make_unique<EventFilter>(
        std::move(response->body), [this, path](std::string_view type, std::string& object) {
          return hears(path, type, object);
        });
  }
  co_return response;
}

bool BuggyService::hears(std::string_view path, std::string_view type, std::string& object) const {
  switch (bug_) {
    case QueueBug::quota_misread:
      if (is_of(path, "quotasubtrees")) {
        enlarge(object);
      }
      return true;
    case QueueBug::node_misread:
      if (is_of(path, "nodes")) {
        enlarge(object);
      }
      return true;
    case QueueBug::deletion_not_heard:
      return !is_of(path, "pods") || type != "DELETED";
    case QueueBug::item_not_seen:
      return !is_of(path, "jobs");
    case QueueBug::node_not_heard:
      return !is_of(path, "nodes") || !object.contains(kUnheardNode);
    default:
      return true;
  }
}

Task<Result<net::Response>> BuggyService::write(net::Request request) {
  std::string body;
  if (request.body != nullptr) {
    CO_TRY_ASSIGN(body, co_await net::read_all(std::move(request.body), kBodyMax));
    request.body = net::body_of(std::string(body));
  }
  const std::string path = path_of(request.target);
  if (only_tries(path, request.method, body)) {
    request.target += request.target.contains('?') ? "&dryRun=All" : "?dryRun=All";
  }
  if (bug_ == QueueBug::item_made_twice && request.method == "POST" && is_item(path, body)) {
    net::Request again{
        .method = request.method, .target = request.target, .headers = request.headers};
    const std::string other = with_another_name(body);
    again.body_size = other.size();
    again.body = net::body_of(std::string(other));
    (void)co_await target_.send(std::move(again));
  }
  co_return co_await target_.send(std::move(request));
}

bool BuggyService::only_tries(std::string_view path, std::string_view method,
                              std::string_view body) {
  if (bug_ == QueueBug::binding_not_sent && path.ends_with("/binding")) {
    return ++bindings_ % kBindingsBetweenLosses == 0;
  }
  return bug_ == QueueBug::intent_not_kept && method == "PUT" && is_of(path, "appwrappers") &&
         body.contains(R"("state":"Pending")") && body.contains(R"("plan":{)");
}

}  // namespace codeflare::sim
