#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/store.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace codeflare::apiserver {

// Removes what has lost its owners, and carries out foreground and orphan deletion. Knows who
// depends on whom from an index by the owner's uid, kept at every commit: nothing is listed.
// Objects that refer to a kind that is not served, or from outside all namespaces into one, are
// left alone: nobody can tell whether such an owner exists.
class GarbageCollector {
 public:
  GarbageCollector(Env env, TaskGroup& group, Logger log, Store& store, const Registry& registry,
                   net::HttpService& api);

  bool idle() const { return work_.idle(); }

  // Work since the start. A change costs its own size, however many objects refer to it.
  struct Effort {
    std::size_t finalizers_read = 0;  // of objects that are being deleted
    std::size_t references_judged = 0;
  };
  const Effort& effort() const { return effort_; }

 private:
  struct Reference {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    bool blocks = false;  // blockOwnerDeletion
    friend auto operator<=>(const Reference&, const Reference&) = default;
  };
  // How an owner stands, seen from its dependent; `waiting` is deleted in the foreground.
  enum class Standing : std::uint8_t { there, waiting, gone, unknown };
  using Dependent = std::tuple<CollectionId, std::string, std::string>;  // ns, name
  struct Dependents {
    std::map<Dependent, bool> blocks;  // whether it holds up the owner's deletion
    std::size_t blocking = 0;
  };
  // An owner that is being deleted in the foreground, or lets its dependents go.
  struct GoingOwner {
    std::string key;
    bool foreground = false;
    bool orphans = false;
  };

  // Sorted; equal references are one.
  static std::vector<Reference> references_of(const Object& object);
  static std::string key_of(CollectionId collection, std::string_view ns, std::string_view name);

  void changed(CollectionId collection, const Event& event);
  void references_changed(CollectionId collection, const Event& event);
  void object_removed(CollectionId collection, const Object& object);
  void deletion_changed(CollectionId collection, const Object& object);
  void add_dependents(const std::string& uid);
  void index(CollectionId collection, const Object& object,
             const std::vector<Reference>& references);
  void unindex(CollectionId collection, const Object& object,
               const std::vector<Reference>& references);
  bool goes_in_foreground(std::string_view uid) const;
  bool is_blocked(std::string_view uid) const;
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
  Standing standing_of(const Reference& reference, const Object& dependent);

  Store& store_;
  const Registry& registry_;
  CollectionId definitions_;
  internal::ApiCaller api_;
  internal::Worklist work_;
  std::map<std::string, Dependents, std::less<>> dependents_;    // by the owner's uid
  std::map<std::string, GoingOwner, std::less<>> going_owners_;  // by uid
  // Owners that were seen going, uid to namespace, as long as something depends on them: their kind
  // may go with them.
  std::map<std::string, std::string, std::less<>> gone_owners_;
  // Keys of what refers to a kind that is not served; looked at again when one comes.
  std::set<std::string> unsure_;
  Effort effort_;
};

}  // namespace codeflare::apiserver
