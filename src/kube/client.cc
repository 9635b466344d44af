#include "kube/client.h"

#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"
#include "kube/internal/exchange.h"
#include "kube/internal/list_body.h"
#include "kube/internal/list_request.h"
#include "kube/internal/watch_list_memory.h"
#include "kube/path.h"
#include "kube/watch_stream.h"
#include "net/body_idle.h"

#include <array>
#include <chrono>
#include <utility>

namespace codeflare::kube {

namespace {

using internal::accept_of;
using internal::Call;
using internal::list_query;

constexpr std::int64_t kPageLimit = 500;
// A watch that has been silent for longer than it was asked to last is dead. Watchers, who count
// from its beginning, give it up earlier.
constexpr Duration kWatchGrace = std::chrono::seconds(10);

std::string_view content_type(PatchKind kind) {
  switch (kind) {
    case PatchKind::json:
      return "application/json-patch+json";
    case PatchKind::merge:
      return "application/merge-patch+json";
    case PatchKind::strategic_merge:
      return "application/strategic-merge-patch+json";
    case PatchKind::apply:
      return "application/apply-patch+yaml";
  }
  return "application/json";
}

Query watch_query(const WatchOptions& options) {
  Query query;
  query.add_if("watch", true)
      .add_if("allowWatchBookmarks", options.bookmarks)
      .add_if_set("labelSelector", options.label_selector)
      .add_if_set("fieldSelector", options.field_selector)
      .add_if_set("resourceVersion", options.resource_version);
  if (options.send_initial_events) {
    query.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
  }
  if (options.timeout.count() > 0) {
    query.add("timeoutSeconds", options.timeout.count());
  }
  return query;
}

std::string delete_body(const DeleteOptions& options) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("kind", "DeleteOptions").member("apiVersion", "v1");
  if (options.grace_period_seconds) {
    w.key("gracePeriodSeconds").integer(*options.grace_period_seconds);
  }
  w.member_if_set("propagationPolicy", options.propagation_policy);
  if (!options.uid.empty() || !options.resource_version.empty()) {
    w.key("preconditions").begin_object();
    w.member_if_set("uid", options.uid);
    w.member_if_set("resourceVersion", options.resource_version);
    w.end_object();
  }
  if (options.dry_run) {
    w.key("dryRun").begin_array().string("All").end_array();
  }
  w.end_object();
  return body;
}

// Servers answer with the object also when it is gone at once (Pods with no grace, Services): it
// stays only for finalizers or for a grace that is not over.
Result<ObjectRef> what_stays(std::string_view body) {
  constexpr std::array<std::string_view, 2> kPaths = {"kind", "metadata.name"};
  std::array<std::string_view, 2> slices;
  TRY(json::scan(body, kPaths, slices));
  if (slices[0] == "\"Status\"" || slices[1].empty()) {
    return ObjectRef();
  }
  TRY_ASSIGN(ObjectRef object, Object::from_json(body));
  if (!object->deleting()) {
    return ObjectRef();
  }
  TRY_ASSIGN(const json::Document document, object->parse());
  const json::Value* finalizers = document.root.get({"metadata", "finalizers"});
  const json::Value* grace = document.root.get({"metadata", "deletionGracePeriodSeconds"});
  const bool held = finalizers != nullptr && finalizers->size() > 0;
  const bool waits = grace != nullptr && grace->is_number() && grace->to_int64().value_or(0) > 0;
  return held || waits ? object : ObjectRef();
}

// The answer cannot be parsed: the caller's request was not at fault.
Result<ObjectRef> object_of_answer(const Call& call, Result<ObjectRef> object) {
  if (!object) {
    return fail(data_loss(call.what() + ": answer: " + object.error().message));
  }
  return object;
}

Call make_delete(std::string target, const DeleteOptions& options) {
  return {.method = "DELETE",
          .target = std::move(target),
          .content_type = "application/json",
          .body = Bytes::from(delete_body(options))};
}

}  // namespace

Client::Client(Env env, net::HttpService& service, ClientOptions options)
    : env_(env),
      options_(std::move(options)),
      exchange_(std::make_unique<internal::Exchange>(env, service, options_)),
      watch_list_memory_(std::make_unique<internal::WatchListMemory>()) {}

Client::~Client() = default;

Task<Result<ObjectRef>> Client::get(ResourceType type, ObjectKey key, std::string subresource) {
  CO_TRY_ASSIGN(std::string path, object_path(type, key, subresource));
  Call call{.target = std::move(path)};
  CO_TRY_ASSIGN(const RawResponse response, co_await exchange_->fetch(call));
  co_return object_of_answer(call, Object::from_json(response.body));
}

Task<Result<ObjectList>> Client::list(ResourceType type, ListOptions options) {
  CO_TRY_ASSIGN(RawRequest request, internal::list_request(type, options));
  CO_TRY_ASSIGN(RawResponse response, co_await raw(std::move(request)));
  co_return co_await internal::parse_list(std::move(response.body));
}

Task<Result<ObjectList>> Client::list_all(ResourceType type, ListOptions options) {
  if (options.limit <= 0) {
    options.limit = kPageLimit;
  }
  ObjectList all;
  ListOptions page_options = options;
  for (bool first = true;; first = false) {
    Result<ObjectList> page = co_await list(type, page_options);
    if (!page && page.error().code == ErrorCode::expired && !first) {
      // The snapshot behind the pages is gone: one consistent answer instead of a mixed one.
      options.limit = 0;
      options.continue_token.clear();
      options.resource_version.clear();
      options.resource_version_match.clear();
      co_return co_await list(std::move(type), std::move(options));
    }
    if (!page) {
      co_return fail(std::move(page).error());
    }
    if (first) {
      all = *std::move(page);
    } else {
      all.items.insert(all.items.end(), std::make_move_iterator(page->items.begin()),
                       std::make_move_iterator(page->items.end()));
      all.continue_token = std::move(page->continue_token);
    }
    all.remaining_items.reset();
    if (all.continue_token.empty()) {
      co_return all;
    }
    page_options.continue_token = all.continue_token;
    // A continue token names its version itself; servers reject both together.
    page_options.resource_version.clear();
    page_options.resource_version_match.clear();
  }
}

Task<Result<std::unique_ptr<WatchStream>>> Client::watch(ResourceType type, WatchOptions options) {
  CO_TRY_ASSIGN(std::string path, collection_path(type, options.ns));
  Call call{.target = watch_query(options).on(std::move(path)),
            .accept = accept_of(options.metadata_only, "PartialObjectMetadata")};
  CO_TRY_ASSIGN(net::Response response, co_await exchange_->open(std::move(call)));
  if (options.timeout.count() > 0) {
    response.body = net::limit_idle(std::move(response.body), options.timeout + kWatchGrace);
  }
  co_return make_watch_stream(std::move(response.body), options_.body_bytes_max);
}

Task<Result<ObjectRef>> Client::write(std::string method, Result<std::string> path,
                                      std::string type, std::string body, WriteOptions options) {
  CO_TRY(path);
  if (options.field_manager.empty()) {
    options.field_manager = options_.user_agent.substr(0, options_.user_agent.find('/'));
  }
  Query query;
  query.add_if_set("fieldManager", options.field_manager)
      .add_if_set("fieldValidation", options.field_validation)
      .add_if_set("dryRun", options.dry_run ? "All" : "")
      .add_if("force", options.force);
  Call call{.method = std::move(method),
            .target = query.on(*std::move(path)),
            .content_type = std::move(type),
            .body = Bytes::from(std::move(body))};
  CO_TRY_ASSIGN(const RawResponse response, co_await exchange_->fetch(call));
  co_return object_of_answer(call, Object::from_json(response.body));
}

Task<Result<ObjectRef>> Client::create(ResourceType type, std::string ns, std::string body,
                                       WriteOptions options) {
  Result<std::string> path = create_path(type, ns);
  co_return co_await write("POST", std::move(path), "application/json", std::move(body),
                           std::move(options));
}

Task<Result<ObjectRef>> Client::update(ResourceType type, ObjectKey key, std::string body,
                                       WriteOptions options) {
  Result<std::string> path = object_path(type, key, options.subresource);
  co_return co_await write("PUT", std::move(path), "application/json", std::move(body),
                           std::move(options));
}

Task<Result<ObjectRef>> Client::patch(ResourceType type, ObjectKey key, PatchKind kind,
                                      std::string body, WriteOptions options) {
  Result<std::string> path = object_path(type, key, options.subresource);
  co_return co_await write("PATCH", std::move(path), std::string(content_type(kind)),
                           std::move(body), std::move(options));
}

Task<Result<ObjectRef>> Client::apply(ResourceType type, ObjectKey key, std::string body,
                                      WriteOptions options) {
  co_return co_await patch(std::move(type), std::move(key), PatchKind::apply, std::move(body),
                           std::move(options));
}

Task<Result<std::string>> Client::post(ResourceType type, ObjectKey key, std::string subresource,
                                       std::string body) {
  CO_TRY_ASSIGN(std::string path, object_path(type, key, subresource));
  Call call{.method = "POST",
            .target = std::move(path),
            .content_type = "application/json",
            .body = Bytes::from(std::move(body))};
  CO_TRY_ASSIGN(RawResponse response, co_await exchange_->fetch(std::move(call)));
  co_return std::move(response.body);
}

Task<Result<ObjectRef>> Client::remove(ResourceType type, ObjectKey key, DeleteOptions options) {
  CO_TRY_ASSIGN(std::string path, object_path(type, key));
  const Call call = make_delete(std::move(path), options);
  CO_TRY_ASSIGN(const RawResponse response, co_await exchange_->fetch(call));
  co_return object_of_answer(call, what_stays(response.body));
}

Task<Result<void>> Client::remove_collection(ResourceType type, ListOptions which,
                                             DeleteOptions options) {
  CO_TRY_ASSIGN(std::string path, collection_path(type, which.ns));
  Call call = make_delete(list_query(which).on(std::move(path)), options);
  CO_TRY(co_await exchange_->fetch(std::move(call)));
  co_return Result<void>();
}

Task<Result<net::Body>> Client::logs(ObjectKey pod, LogOptions options) {
  const ResourceType pods{"", "v1", "Pod", "pods", true};
  CO_TRY_ASSIGN(std::string path, object_path(pods, pod, "log"));
  Query query;
  query.add_if_set("container", options.container)
      .add_if("follow", options.follow)
      .add_if("previous", options.previous)
      .add_if("timestamps", options.timestamps)
      .add_if_set("tailLines", options.tail_lines)
      .add_if_set("sinceSeconds", options.since_seconds)
      .add_if_set("limitBytes", options.limit_bytes);
  Call call{.target = query.on(std::move(path)), .accept = "text/plain, application/json, */*"};
  CO_TRY_ASSIGN(net::Response response, co_await exchange_->open(std::move(call)));
  // Existing log lines come without a pause; a pod that is followed may be silent for hours.
  co_return options.follow ? std::move(response.body)
                           : net::limit_idle(std::move(response.body), options_.request_timeout);
}

Task<Result<Client::RawResponse>> Client::raw(RawRequest request) {
  Call call{.method = std::move(request.method),
            .target = std::move(request.target),
            .accept = std::move(request.accept),
            .content_type = std::move(request.content_type),
            .body = Bytes::from(std::move(request.body)),
            .headers = std::move(request.headers)};
  co_return co_await exchange_->fetch(std::move(call));
}

}  // namespace codeflare::kube
