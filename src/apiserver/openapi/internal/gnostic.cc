#include "apiserver/openapi/internal/gnostic.h"

#include "apiserver/openapi/internal/protobuf.h"

namespace codeflare::apiserver::openapi {
namespace {

// ParametersItem.parameter.non_body_parameter.query_parameter_sub_schema
std::string query_parameter(std::string_view name) {
  std::string parameter;
  append_field(parameter, 2, "query");
  append_field(parameter, 4, name);
  append_field(parameter, 6, "string");
  return wrapped(1, wrapped(2, wrapped(3, parameter)));
}

std::string patch_operation(const OperationInfo& operation) {
  std::string result;
  append_field(result, 8, query_parameter("dryRun"));
  append_field(result, 8, query_parameter("fieldValidation"));
  std::string yaml = "group: \"" + std::string(operation.kind.group) +
                     "\"\nkind: " + std::string(operation.kind.kind) +
                     "\nversion: " + std::string(operation.kind.version) + "\n";
  append_field(result, 13, extension("x-kubernetes-group-version-kind", yaml));
  return result;
}

}  // namespace

std::string to_gnostic(const std::vector<PathInfo>& paths, const std::string& definitions) {
  std::string all;
  for (const PathInfo& path : paths) {
    for (const OperationInfo& operation : path.operations) {
      if (operation.method == "patch") {
        std::string named;
        append_field(named, 1, path.path);
        append_field(named, 2, wrapped(8, patch_operation(operation)));
        append_field(all, 2, named);
      }
    }
  }
  std::string info;
  append_field(info, 1, "Kubernetes");
  append_field(info, 2, "v1.34.4");
  std::string document;
  append_field(document, 1, "2.0");
  append_field(document, 2, info);
  append_field(document, 8, all);
  append_field(document, 9, definitions);
  return document;
}

}  // namespace codeflare::apiserver::openapi
