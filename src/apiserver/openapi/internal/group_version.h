#pragma once

#include "apiserver/registry/registry.h"

#include <string>
#include <vector>

namespace codeflare::apiserver::openapi {

// One resource in one of its versions.
struct Served {
  ResourcePtr resource;
  const ServedVersion* version;
};

struct GroupVersion {
  std::string group;  // empty: core
  std::string version;
  std::vector<Served> served{};

  std::string path() const {  // "apis/batch/v1"
    return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
  }
};

// Everything that is served, in the order of discovery.
std::vector<GroupVersion> group_versions(const Registry& registry);

struct Gvk {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
};

// The name of a kind's schema: "io.k8s.api.batch.v1.Job", "com.example.v1.Widget".
std::string schema_name(const Resource& resource, const ServedVersion& version);

}  // namespace codeflare::apiserver::openapi
