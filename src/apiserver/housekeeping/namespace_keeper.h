#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/store.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Gives every namespace its default ServiceAccount and the ConfigMap with the server's CA, and
// empties namespaces that are being deleted: pods first, then the rest, then the namespace itself.
class NamespaceKeeper {
 public:
  NamespaceKeeper(Env env, TaskGroup& group, Logger log, Store& store, const Registry& registry,
                  net::HttpService& api, std::string ca_pem);

  bool idle() const { return work_.idle(); }

 private:
  // The rest of a namespace's content, in upstream's words: "pods. has 2 resource instances",
  // "example.com/hold in 1 resource instances". Empty: nothing.
  struct Remaining {
    std::string objects;
    std::string finalizers;
  };

  void changed(CollectionId collection, const Event& event);
  Task<Result<void>> look_at(std::string name);
  Task<Result<void>> furnish(std::string ns);
  Task<Result<void>> empty(ObjectPtr ns);
  Task<Result<void>> empty_collection(ResourcePtr resource, std::string ns);
  Task<Result<void>> write_status(ObjectPtr ns, Remaining remaining);
  Task<Result<void>> finalize(ObjectPtr ns);
  Remaining remaining(std::string_view ns) const;

  Clock& clock_;
  Store& store_;
  const Registry& registry_;
  internal::ApiCaller api_;
  std::string ca_pem_;
  CollectionId namespaces_;
  CollectionId accounts_;
  CollectionId config_maps_;
  internal::Worklist work_;
};

}  // namespace codeflare::apiserver
