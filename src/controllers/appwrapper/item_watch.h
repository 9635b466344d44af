#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "model/gvk.h"
#include "runtime/informer.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers {

// Watches wrapped objects: one informer per kind that was ever wrapped, of the labelled objects
// alone, started when first asked for. A change wakes the AppWrapper that the UID label names.
class ItemWatch {
 public:
  using Wake = std::function<void(const std::string& uid)>;
  ItemWatch(Env env, kube::Client& client, Logger logger);
  ItemWatch(const ItemWatch&) = delete;
  ItemWatch& operator=(const ItemWatch&) = delete;
  ~ItemWatch();

  void set_wake(Wake wake) { wake_ = std::move(wake); }
  // Whether the object is an item of the AppWrapper with this UID.
  using Wanted = std::function<bool(const std::string& uid, const model::ResourceType& type,
                                    const model::ObjectKey& key)>;
  void set_wanted(Wanted wanted) { wanted_ = std::move(wanted); }
  // Told of every item as it is when first seen, and when its spec is another one.
  using Seen = std::function<void(const std::string& uid, const kube::Object& item)>;
  void set_seen(Seen seen) { seen_ = std::move(seen); }
  // Until stopped; then the informers end too.
  Task<void> run();

  // The kind as the server offers it: `not_found` when it surely does not, `unsupported` when its
  // objects cannot be looked at and deleted again.
  Task<Result<model::ResourceType>> type_of(std::string api_version, std::string kind);
  // In step with the server; null when the server does not let us watch the kind: then its objects
  // are to be asked for by name.
  Task<Result<runtime::Informer*>> informer(model::ResourceType type);
  // The informer if it runs already.
  runtime::Informer* running(const model::ResourceType& type) const;

  struct Item {
    model::ResourceType type;
    kube::ObjectRef object;
  };
  // Every object that carries this UID, of the kinds watched so far.
  std::vector<Item> labelled(const std::string& uid) const;
  // An item of it that is gone, as it was in the end; null when none is known.
  kube::ObjectRef departed(const std::string& uid, const model::ResourceType& type,
                           const model::ObjectKey& key) const;
  // Departed objects of it are not wanted any more.
  void forget(const std::string& uid);

 private:
  struct Departed {
    model::ResourceType type;
    model::ObjectKey key;
    friend auto operator<=>(const Departed&, const Departed&) = default;
  };
  struct Watched {
    std::unique_ptr<runtime::Informer> informer;
    Instant begun{};
  };
  void observe(const model::ResourceType& type, const runtime::ObjectChange& change);

  Env env_;
  kube::Client& client_;
  Logger logger_;
  kube::Discovery discovery_;
  Wake wake_;
  Wanted wanted_;
  Seen seen_;
  std::map<model::ResourceType, Watched> informers_;
  std::map<std::string, std::map<Departed, kube::ObjectRef>> departed_;
  TaskGroup group_;
};

// A label of the object; empty when it has none.
std::string label_of(const kube::Object& object, std::string_view label);
// Whether the object with this uid is among its owners.
bool is_owned_by(const kube::Object& object, std::string_view uid);

}  // namespace codeflare::controllers
