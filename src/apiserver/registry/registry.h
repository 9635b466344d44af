#pragma once

#include "apiserver/registry/resource.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

using ResourcePtr = std::shared_ptr<const Resource>;

// The resources that are served at this moment. Lookups hand out shared pointers: a request goes on
// with the resource it began with although a CRD changes meanwhile.
class Registry {
 public:
  void add(Resource resource);  // replaces one of the same group and plural
  void remove(std::string_view group, std::string_view plural);

  // By plural name; null when that version is not served.
  ResourcePtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  ResourcePtr find_kind(std::string_view group, std::string_view version,
                        std::string_view kind) const;
  // In any version.
  ResourcePtr find(std::string_view group, std::string_view plural) const;
  // Of several views of one collection the one added first: the one it is stored as.
  ResourcePtr find(CollectionId collection) const;

  // In the order of discovery: core first, then groups as upstream ranks them, custom groups by
  // name; resources by name within a group.
  std::vector<ResourcePtr> all() const;
  struct Group {
    std::string name;                     // empty: core
    std::vector<std::string> versions{};  // served; the preferred one first
    std::vector<ResourcePtr> resources{};
  };
  std::vector<Group> groups() const;
  // Grows with every change: documents made of the registry are cached by it.
  std::uint64_t generation() const { return generation_; }

 private:
  // (group, plural); looked up by views.
  struct KeyOrder {
    using is_transparent = void;
    using View = std::pair<std::string_view, std::string_view>;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return View(a.first, a.second) < View(b.first, b.second);
    }
  };
  std::map<std::pair<std::string, std::string>, ResourcePtr, KeyOrder> by_plural_;
  std::map<CollectionId, ResourcePtr> by_collection_;
  std::vector<std::string> group_order_;  // of built-in groups, as they were added
  std::uint64_t generation_ = 1;
};

// Every built-in resource of Kubernetes v1.34 as a default installation serves it. `customize` (may
// be empty) gives a resource its strategy and printers before it is added.
void add_builtin_resources(Registry& registry,
                           const std::function<CollectionId(std::string_view)>& collection,
                           const std::function<void(Resource&)>& customize);

// Names that only have to fit into a path, such as those of roles.
model::Complaints check_path_segment_name(std::string_view name, bool prefix);

// "v1" before "v1beta2" before "v1beta1" before "v2alpha1" before "foo10": the order of preference
// among versions of a custom group.
bool version_precedes(std::string_view a, std::string_view b);

}  // namespace codeflare::apiserver
