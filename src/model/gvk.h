#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace codeflare::model {

// Where an object lives; `ns` is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string ns;
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  // "ns/name", or the name alone.
  std::string to_string() const { return ns.empty() ? name : ns + "/" + name; }
};

struct GroupVersionKind {
  std::string group;  // empty for the core group
  std::string version;
  std::string kind;

  friend auto operator<=>(const GroupVersionKind&, const GroupVersionKind&) = default;
  // "v1", "batch/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// Everything a client must know to address objects of one kind.
struct ResourceType {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;  // "pods"
  bool namespaced = true;

  friend auto operator<=>(const ResourceType&, const ResourceType&) = default;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  GroupVersionKind gvk() const { return {group, version, kind}; }
  // "pods" or "jobs.batch", as people and error messages name it.
  std::string qualified_name() const { return group.empty() ? plural : plural + "." + group; }
};

}  // namespace codeflare::model

template <>
struct std::hash<codeflare::model::ObjectKey> {
  std::size_t operator()(const codeflare::model::ObjectKey& key) const noexcept {
    return std::hash<std::string>()(key.ns) * 31 + std::hash<std::string>()(key.name);
  }
};
