#pragma once

#include "apiserver/openapi/internal/group_version.h"
#include "json/write.h"

namespace codeflare::apiserver::openapi {

// One operation on a path.
struct OperationInfo {
  std::string_view method;  // "patch"
  std::string_view action;  // x-kubernetes-action
  Gvk kind;
  std::string schema;  // what it answers; empty: nothing that has a name
  bool writes = false;
  bool custom = false;
};

struct PathInfo {
  std::string path;  // "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"
  bool named = false;
  bool namespaced = false;
  std::vector<OperationInfo> operations{};
};

// The paths of a group version.
std::vector<PathInfo> paths_of(const GroupVersion& group_version);

// As members of an object, in the words of OpenAPI 3 or of Swagger 2.
void write_paths_v3(json::Writer& writer, const std::vector<PathInfo>& paths);
void write_paths_v2(json::Writer& writer, const std::vector<PathInfo>& paths);

}  // namespace codeflare::apiserver::openapi
