#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "net/http.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare {
class Logger;
class MetricsRegistry;
}  // namespace codeflare

namespace codeflare::kube {

namespace internal {
class Exchange;
class WatchListMemory;
}  // namespace internal

using model::ObjectKey;
using model::ResourceType;

struct ListOptions {
  std::string ns;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;  // 0: all at once
  std::string continue_token;
  std::string resource_version;
  std::string resource_version_match;
  bool metadata_only = false;  // PartialObjectMetadata
};

struct ObjectList {
  std::vector<ObjectRef> items;
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_items;
};

struct WriteOptions {
  std::string field_manager;     // empty: the client's own
  std::string field_validation;  // "", "Ignore", "Warn", "Strict"
  bool dry_run = false;
  bool force = false;       // apply only: take over fields that others own
  std::string subresource;  // "status", "scale", ...
};

enum class PatchKind : std::uint8_t { json, merge, strategic_merge, apply };

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::string propagation_policy;  // "", "Background", "Foreground", "Orphan"
  std::string uid;                 // preconditions: reject when the object is another one
  std::string resource_version;
  bool dry_run = false;
};

struct WatchOptions {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  bool bookmarks = true;
  bool send_initial_events = false;  // WatchList
  bool metadata_only = false;
  std::chrono::seconds timeout{290};  // asked of the server
};

struct WatchEvent {
  enum class Type : std::uint8_t { added, modified, deleted, bookmark };
  Type type = Type::added;
  ObjectRef object;              // null for bookmarks
  std::string resource_version;  // of the object or bookmark
  bool initial_events_end = false;
};

// One open watch request. An ERROR event becomes the Error (expired, resource_exhausted, ...).
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  // The next event; nothing when the server ended the stream in good order.
  virtual Task<Result<std::optional<WatchEvent>>> next() = 0;
};

struct LogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> since_seconds;
  std::optional<std::int64_t> limit_bytes;
};

// A request that the client is about to send once more.
struct Repeat {
  std::string request;  // "POST /api/v1/namespaces/default/pods"
  const Error& error;   // why; with retry_after when the server asked for the wait
  Duration wait;
};

struct ClientOptions {
  std::string user_agent = "codeflare";  // its part before "/" is the default field manager
  std::string default_namespace = "default";
  std::string host;  // label of the metrics: "10.0.0.1:6443"
  // Attempts for requests that may be repeated: anything after 429 or a 5xx answer that says
  // Retry-After; for reads after a broken connection there is a tighter limit.
  int attempts_max = 10;
  int transport_attempts_max = 5;
  // For all attempts together; of watches and logs it covers the head alone.
  Duration request_timeout = std::chrono::seconds(60);
  // Asked before each wait, for those who have somebody to tell or less patience; false: the error
  // goes to the caller now.
  std::function<bool(const Repeat&)> before_repeat;
  std::size_t body_bytes_max = 256u << 20;
  Logger* logger = nullptr;            // warnings of the server, each once; retries
  MetricsRegistry* metrics = nullptr;  // rest_client_*
};

// Kubernetes API calls over any HttpService. Errors carry the server's Status as detail and a code
// that says what the caller may do. Loop-bound; must outlive the tasks it returned.
//   Result<ObjectRef> pod = co_await client.get(kPods, {"default", "web-0"});
class Client {
 public:
  Client(Env env, net::HttpService& service, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Task<Result<ObjectRef>> get(ResourceType type, ObjectKey key, std::string subresource = {});
  Task<Result<ObjectList>> list(ResourceType type, ListOptions options);
  // All pages; an expired continue token starts over once without paging.
  Task<Result<ObjectList>> list_all(ResourceType type, ListOptions options);
  Task<Result<std::unique_ptr<WatchStream>>> watch(ResourceType type, WatchOptions options);

  // `body` is the object's JSON. The namespace must be given for namespaced kinds.
  Task<Result<ObjectRef>> create(ResourceType type, std::string ns, std::string body,
                                 WriteOptions options = {});
  Task<Result<ObjectRef>> update(ResourceType type, ObjectKey key, std::string body,
                                 WriteOptions options = {});
  Task<Result<ObjectRef>> patch(ResourceType type, ObjectKey key, PatchKind kind, std::string body,
                                WriteOptions options = {});
  // Server-side apply under the field manager.
  Task<Result<ObjectRef>> apply(ResourceType type, ObjectKey key, std::string body,
                                WriteOptions options = {});
  // A document posted to an object and answered with something else: "binding", "eviction",
  // "token". The answer's text.
  Task<Result<std::string>> post(ResourceType type, ObjectKey key, std::string subresource,
                                 std::string body);
  // The object when it stays for finalizers or grace, nothing when it is gone.
  Task<Result<ObjectRef>> remove(ResourceType type, ObjectKey key, DeleteOptions options = {});
  Task<Result<void>> remove_collection(ResourceType type, ListOptions which,
                                       DeleteOptions options = {});

  Task<Result<net::Body>> logs(ObjectKey pod, LogOptions options);

  // Any path, for what has no call of its own: /version, /healthz, reviews.
  struct RawRequest {
    std::string method = "GET";
    std::string target;
    std::string content_type = "application/json";
    std::string accept = "application/json";
    std::string body;
    net::Headers headers;  // more of them; with If-None-Match 304 is not an error
  };
  struct RawResponse {
    int status = 0;
    net::Headers headers;
    std::string body;
  };
  // Non-2xx answers are errors.
  Task<Result<RawResponse>> raw(RawRequest request);

  const ClientOptions& options() const { return options_; }
  Env env() const { return env_; }
  // Shared by the watchers of this server.
  internal::WatchListMemory& watch_list_memory() { return *watch_list_memory_; }

 private:
  Task<Result<ObjectRef>> write(std::string method, Result<std::string> path, std::string type,
                                std::string body, WriteOptions options);

  Env env_;
  ClientOptions options_;
  std::unique_ptr<internal::Exchange> exchange_;
  std::unique_ptr<internal::WatchListMemory> watch_list_memory_;
};

}  // namespace codeflare::kube
