#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/store.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace codeflare::apiserver {

// Removes what has lost its owners, and carries out foreground and orphan deletion. Knows who
// depends on whom from an index by the owner's uid, kept at every commit: nothing is listed. What
// refers to a kind that is not served, or from outside all namespaces into one, is left alone:
// nobody can tell whether such an owner exists.
class GarbageCollector {
 public:
  GarbageCollector(Env env, TaskGroup& group, Logger log, Store& store, const Registry& registry,
                   net::HttpService& api);

  bool idle() const { return work_.idle(); }

 private:
  struct Reference {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    bool blocks = false;  // blockOwnerDeletion
  };
  // How an owner stands, seen from its dependent; `waiting` is deleted in the foreground.
  enum class Standing : std::uint8_t { there, waiting, gone, unknown };
  using Dependent = std::tuple<CollectionId, std::string, std::string>;  // ns, name

  static std::vector<Reference> references_of(const Object& object);
  static bool lists_finalizer(const Object& object, std::string_view finalizer);
  // It lists the finalizer and is being deleted.
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
  bool is_in_circle(const Object& object) const;
  Task<Result<void>> unblock(CollectionId collection, ObjectPtr object);
  Task<Result<void>> patch_object(CollectionId collection, ObjectPtr object, std::string patch);
  Standing standing_of(const Reference& reference, const Object& dependent) const;

  Store& store_;
  const Registry& registry_;
  CollectionId definitions_;
  internal::ApiCaller api_;
  internal::Worklist work_;
  std::map<std::string, std::set<Dependent>, std::less<>> dependents_;
  // Being deleted in the foreground, or letting their dependents go: uid to key.
  std::map<std::string, std::string, std::less<>> waiting_owners_;
  // Owners that were seen going, uid to namespace, as long as something depends on them: their kind
  // may go with them.
  std::map<std::string, std::string, std::less<>> gone_owners_;
  // Keys of what refers to a kind that is not served; looked at again when one comes.
  std::set<std::string> unsure_;
};

}  // namespace codeflare::apiserver
