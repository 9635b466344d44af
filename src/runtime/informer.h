#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "kube/client.h"
#include "kube/watcher.h"
#include "model/key_map.h"
#include "runtime/store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::runtime {

using model::ResourceType;

struct InformerOptions {
  kube::WatcherOptions watch{};
  // Makes the object smaller before it is kept (drop managedFields, data, status...). Must keep
  // metadata.name, namespace, uid and resourceVersion.
  std::function<ObjectRef(ObjectRef)> transform{};
};

// A change: `old` is null for a new object, `now` for one that is gone.
struct ObjectChange {
  ObjectRef old;
  ObjectRef now;
  bool initial = false;  // part of the first list
  // What as() has read.
  mutable std::shared_ptr<const void> read{};
  mutable const void* read_as = nullptr;

  // `now`, decoded once for all handlers of the change; a kind is always read as the same T.
  template <typename T>
  const Result<T>& as() const;
};

// Keeps a Store in step with the server and tells handlers what changed. One per kind is shared by
// all controllers of a process. Its objects are packed: objects of one kind resemble each other.
//   Informer pods(client, kPods, {}); group.spawn(pods.run()); co_await pods.wait_synced();
class Informer {
 public:
  Informer(Env env, kube::Client& client, ResourceType type, InformerOptions options = {});
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  // Until stopped.
  Task<void> run();

  const ResourceType& type() const { return type_; }
  const InformerOptions& options() const { return options_; }
  const Store& store() const { return store_; }
  // Before run().
  void add_index(std::string name, Store::IndexFunction function);
  // Called on the loop after the store has changed, in the order of the server's events. A handler
  // must be quick and must not block: it usually adds a key to a queue.
  using Handler = std::function<void(const ObjectChange&)>;
  void add_handler(Handler handler);

  bool synced() const { return synced_; }
  // Fails with `cancelled` only.
  Task<Result<void>> wait_synced();
  // Why it is not synced, as far as known.
  std::optional<Error> last_error() const { return watcher_.last_error(); }

  // Read your own writes: after a write, tell the version that the server answered; fresh() then
  // waits (at most `patience`) until the store has seen it. `unavailable` means "look again later".
  void note_written(const kube::Object& written);
  void note_deleted(const ObjectKey& key, std::string uid);
  Task<Result<void>> fresh(ObjectKey key, Duration patience = std::chrono::seconds(1));
  bool is_fresh(const ObjectKey& key);

 private:
  struct Expected {
    std::uint64_t revision = 0;  // seen when the store is at least here
    std::string deleted_uid;     // seen when this one is gone
  };

  void handle(kube::WatcherEvent event);
  void apply(ObjectRef object, bool initial);
  void removed(const ObjectRef& object);
  void tell(const ObjectChange& change);

  Env env_;
  ResourceType type_;
  InformerOptions options_;
  kube::Watcher watcher_;
  Store store_;
  // Of the kind's text; kept objects are packed against it.
  std::shared_ptr<TextSample> sample_ = std::make_shared<TextSample>();
  std::vector<Handler> handlers_;
  model::KeyMap<Expected> expected_;
  std::uint64_t seen_revision_ = 0;
  bool synced_ = false;
  WaitList sync_waiters_;
  WaitList change_waiters_;
};

template <typename T>
const Result<T>& ObjectChange::as() const {
  static constexpr char kType = 0;
  if (read_as != &kType) {
    read = std::make_shared<const Result<T>>(now->as<T>());
    read_as = &kType;
  }
  return *static_cast<const Result<T>*>(read.get());
}

}  // namespace codeflare::runtime
