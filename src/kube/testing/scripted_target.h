#pragma once

#include "base/result.h"
#include "kube/testing/scripted_service.h"
#include "model/fields.h"
#include "model/labels.h"

#include <map>
#include <string>
#include <string_view>

namespace codeflare::kube::testing {

// A request target taken apart.
struct ScriptedService::Target {
  std::string group;
  std::string version;
  std::string plural;
  model::ObjectKey key;  // no name: the collection
  bool all_namespaces = false;
  std::string subresource;
  std::map<std::string, std::string> query;
  bool metadata_only = false;
  model::Selector labels;
  model::FieldSelector fields;

  std::string collection() const { return group.empty() ? plural : plural + "." + group; }
  std::string parameter(const std::string& name) const {
    auto at = query.find(name);
    return at == query.end() ? std::string() : at->second;
  }
  bool flag(const std::string& name) const {
    return parameter(name) == "true" || parameter(name) == "1";
  }
  bool selects(const Object& object) const;
  // The text that goes over the wire: the object, or its metadata alone.
  std::string text_of(const Object& object) const;
};

// not_found for paths that do not belong to a resource.
Result<ScriptedService::Target> parse_target(const net::Request& request);

}  // namespace codeflare::kube::testing
