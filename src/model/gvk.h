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

struct GroupVersion {
  std::string group;  // empty for the core group
  std::string version;

  friend auto operator<=>(const GroupVersion&, const GroupVersion&) = default;
  // "v1", "batch/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// Splits an apiVersion; text without a slash is a version of the core group.
inline GroupVersion parse_api_version(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return {"", std::string(text)};
  }
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

struct GroupVersionKind {
  std::string group;  // empty for the core group
  std::string version;
  std::string kind;

  friend auto operator<=>(const GroupVersionKind&, const GroupVersionKind&) = default;
  // "v1", "batch/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "v1, Kind=Pod", as people and error messages name it.
  std::string to_string() const { return api_version() + ", Kind=" + kind; }
};

struct GroupVersionResource {
  std::string group;  // empty for the core group
  std::string version;
  std::string resource;  // "pods"

  friend auto operator<=>(const GroupVersionResource&, const GroupVersionResource&) = default;
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
  GroupVersionResource gvr() const { return {group, version, plural}; }
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
