#include "kube/internal/list_request.h"

#include <utility>

namespace codeflare::kube::internal {

Query list_query(const ListOptions& options) {
  Query query;
  query.add_if_set("labelSelector", options.label_selector)
      .add_if_set("fieldSelector", options.field_selector)
      .add_if_set("resourceVersion", options.resource_version)
      .add_if_set("resourceVersionMatch", options.resource_version_match)
      .add_if_set("continue", options.continue_token);
  if (options.limit > 0) {
    query.add("limit", options.limit);
  }
  return query;
}

std::string accept_of(bool metadata_only, std::string_view as) {
  if (!metadata_only) {
    return "application/json";
  }
  return "application/json;as=" + std::string(as) + ";g=meta.k8s.io;v=v1,application/json";
}

Result<Client::RawRequest> list_request(const ResourceType& type, const ListOptions& options) {
  TRY_ASSIGN(std::string path, collection_path(type, options.ns));
  Client::RawRequest request;
  request.target = list_query(options).on(std::move(path));
  request.accept = accept_of(options.metadata_only, "PartialObjectMetadataList");
  return request;
}

}  // namespace codeflare::kube::internal
