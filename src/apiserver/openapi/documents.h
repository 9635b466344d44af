#pragma once

#include "apiserver/registry/registry.h"
#include "json/value.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// The CustomResourceDefinition of that name as its author wrote it; empty when there is none.
using FindDefinition = std::function<json::Document(const std::string& name)>;

// OpenAPI documents of what is served, rendered from the shape graph: types, lists and patch
// strategies; descriptions of custom resources alone. Made when they are asked for; only their
// hashes are kept.
//   OpenApiDocuments documents(registry);  documents.v3_index();  documents.v3("apis/batch/v1");
class OpenApiDocuments {
 public:
  explicit OpenApiDocuments(const Registry& registry, FindDefinition find = {})
      : registry_(registry), find_(std::move(find)) {}

  // {"paths":{"apis/batch/v1":{"serverRelativeURL":"/openapi/v3/apis/batch/v1?hash=..."}}}
  std::string v3_index();
  // The document of one group version ("api/v1", "apis/batch/v1"); nothing when it is not served.
  std::optional<std::string> v3(std::string_view path) const;
  // As in the index; empty when it is not served.
  std::string v3_hash(std::string_view path);

  // Swagger 2.0, as JSON and in gnostic's protobuf form, which kubectl up to 1.28 reads: one PATCH
  // operation per kind, and the schemas.
  std::string v2_json() const;
  std::string v2_protobuf() const;

 private:
  struct Hashed {
    std::vector<ResourcePtr> resources;
    std::string hash;
  };
  void refresh_hashes();

  const Registry& registry_;
  FindDefinition find_;
  std::uint64_t generation_ = 0;
  std::map<std::string, Hashed, std::less<>> hashes_;  // by path
};

}  // namespace codeflare::apiserver
