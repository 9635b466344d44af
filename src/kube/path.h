#pragma once

#include "base/result.h"
#include "model/gvk.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::kube {

// Request targets of the Kubernetes API. All of them reject, as invalid_argument, input that would
// address another object than was meant: an empty name (the whole collection), "." and "..", a
// namespaced kind without a namespace or a cluster-scoped one with it.

// "/api/v1" or "/apis/batch/v1".
std::string group_version_path(std::string_view group, std::string_view version);

// "/api/v1/namespaces/default/pods"; all namespaces when `ns` is empty.
Result<std::string> collection_path(const model::ResourceType& type, std::string_view ns);

// Where new objects are posted: as collection_path(), but a namespaced kind needs its namespace.
Result<std::string> create_path(const model::ResourceType& type, std::string_view ns);

// "/apis/batch/v1/namespaces/default/jobs/x/status".
Result<std::string> object_path(const model::ResourceType& type, const model::ObjectKey& key,
                                std::string_view subresource = {});

// Percent-encodes all but letters, digits and "-._~:"; for one path segment or query part.
void append_encoded(std::string& out, std::string_view text);
std::string encoded(std::string_view text);

// "a=1&b=x%2Cy" behind a path.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  Query& add(std::string_view name, std::int64_t value);
  // Nothing at all when there is no value.
  Query& add_if_set(std::string_view name, std::string_view value);
  Query& add_if_set(std::string_view name, std::optional<std::int64_t> value);
  Query& add_if(std::string_view name, bool value) { return value ? add(name, "true") : *this; }

  // The path with the query behind it.
  std::string on(std::string path) const;

 private:
  std::string text_;
};

}  // namespace codeflare::kube
