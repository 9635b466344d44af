#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/store.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace codeflare::apiserver {

// Removes what has lost its owners, and carries out foreground and orphan deletion. Knows who
// depends on whom from an index by the owner's uid, kept at every commit: nothing is listed.
class GarbageCollector {
 public:
  GarbageCollector(Env env, TaskGroup& group, Logger log, Store& store, const Registry& registry,
                   net::HttpService& api);

  bool idle() const { return work_.idle(); }

 private:
  struct Reference {
    std::string uid;
    bool blocks = false;  // blockOwnerDeletion
  };
  using Dependent = std::tuple<CollectionId, std::string, std::string>;  // ns, name

  static std::vector<Reference> references_of(const Object& object);
  static bool has_finalizer(const Object& object, std::string_view finalizer);
  static std::string key_of(CollectionId collection, std::string_view ns, std::string_view name);

  void changed(CollectionId collection, const Event& event);
  void add_dependents(const std::string& uid);
  void index(CollectionId collection, const Object& object, bool add);
  Task<Result<void>> look_at(std::string key);
  Task<Result<void>> finish_owner(CollectionId collection, ObjectPtr owner);
  Task<Result<void>> orphan(CollectionId collection, ObjectPtr owner);
  Task<Result<void>> collect(CollectionId collection, ObjectPtr object);
  Task<Result<void>> drop_references(CollectionId collection, ObjectPtr object,
                                     std::set<std::string> uids);
  Task<Result<void>> drop_finalizer(CollectionId collection, ObjectPtr object,
                                    std::string finalizer);
  // The owner, when it is there and where the dependent may refer to.
  ObjectPtr find_owner(const Reference& reference, const Object& dependent) const;

  Store& store_;
  const Registry& registry_;
  internal::ApiCaller api_;
  internal::Worklist work_;
  std::map<std::string, std::set<Dependent>, std::less<>> dependents_;
  // Being deleted in the foreground, or letting their dependents go: uid to key.
  std::map<std::string, std::string, std::less<>> waiting_owners_;
};

}  // namespace codeflare::apiserver
