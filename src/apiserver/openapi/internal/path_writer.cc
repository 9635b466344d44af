#include "apiserver/openapi/internal/path_writer.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver::openapi {
namespace {

struct Verb {
  std::string_view verb;
  std::string_view method;
  std::string_view action;
  bool writes;
};
constexpr std::array<Verb, 3> kListVerbs = {
    {{"list", "get", "list", false},
     {"create", "post", "post", true},
     {"deletecollection", "delete", "deletecollection", false}}};
constexpr std::array<Verb, 4> kItemVerbs = {{{"get", "get", "get", false},
                                             {"update", "put", "put", true},
                                             {"patch", "patch", "patch", true},
                                             {"delete", "delete", "delete", false}}};

constexpr std::string_view kSchemas = "#/components/schemas/";

bool has(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

template <std::size_t N>
void add_operations(PathInfo& path, const std::array<Verb, N>& verbs,
                    const std::vector<std::string>& offered, const Gvk& kind,
                    const std::string& schema, bool custom) {
  for (const Verb& verb : verbs) {
    if (has(offered, verb.verb)) {
      std::string answer = verb.action == "list" ? schema + "List" : schema;
      path.operations.push_back(
          {verb.method, verb.action, kind, std::move(answer), verb.writes, custom});
    }
  }
}

void add_resource(std::vector<PathInfo>& paths, const GroupVersion& group_version,
                  const Served& served) {
  const Resource& resource = *served.resource;
  const std::string base = "/" + group_version.path();
  const std::string scope = resource.namespaced ? "/namespaces/{namespace}/" : "/";
  const std::string schema = schema_name(resource, *served.version);
  const Gvk kind{resource.group, served.version->version, resource.kind};
  if (resource.namespaced && has(resource.verbs, "list")) {
    PathInfo all{base + "/" + resource.plural};
    all.operations.push_back({"get", "list", kind, schema + "List", false, resource.custom});
    paths.push_back(std::move(all));
  }
  PathInfo list{base + scope + resource.plural, false, resource.namespaced};
  add_operations(list, kListVerbs, resource.verbs, kind, schema, resource.custom);
  paths.push_back(std::move(list));
  PathInfo item{base + scope + resource.plural + "/{name}", true, resource.namespaced};
  add_operations(item, kItemVerbs, resource.verbs, kind, schema, resource.custom);
  if (!item.operations.empty()) {
    paths.push_back(std::move(item));
  }
  for (const Subresource& sub : served.version->subresources) {
    PathInfo path{base + scope + resource.plural + "/{name}/" + sub.name, true,
                  resource.namespaced};
    Gvk sub_kind{sub.group.empty() && sub.version.empty() ? std::string_view(resource.group)
                                                          : std::string_view(sub.group),
                 sub.version.empty() ? kind.version : std::string_view(sub.version), sub.kind};
    bool own = sub.kind == resource.kind;
    add_operations(path, kItemVerbs, sub.verbs, sub_kind, own ? schema : std::string(),
                   resource.custom);
    add_operations(path, std::array<Verb, 1>{{{"create", "post", "post", true}}}, sub.verbs,
                   sub_kind, "", resource.custom);
    if (!path.operations.empty()) {
      paths.push_back(std::move(path));
    }
  }
}

struct Parameter {
  std::string_view name;
  std::string_view type;
  bool patch_only;
};
constexpr std::array<Parameter, 4> kWriteParameters = {{{"dryRun", "string", false},
                                                        {"fieldManager", "string", false},
                                                        {"fieldValidation", "string", false},
                                                        {"force", "boolean", true}}};

void write_kind(json::Writer& writer, const OperationInfo& operation) {
  writer.member("x-kubernetes-action", operation.action);
  writer.key("x-kubernetes-group-version-kind").begin_object();
  writer.member("group", operation.kind.group)
      .member("kind", operation.kind.kind)
      .member("version", operation.kind.version);
  writer.end_object();
}

void write_parameters(json::Writer& writer, const OperationInfo& operation, bool v3) {
  if (!operation.writes) {
    return;
  }
  writer.key("parameters").begin_array();
  for (const Parameter& parameter : kWriteParameters) {
    if (parameter.patch_only && operation.method != "patch") {
      continue;
    }
    writer.begin_object().member("in", "query").member("name", parameter.name);
    if (v3) {
      writer.key("schema")
          .begin_object()
          .member("type", parameter.type)
          .key("uniqueItems")
          .boolean(true)
          .end_object();
    } else {
      writer.member("type", parameter.type).key("uniqueItems").boolean(true);
    }
    writer.end_object();
  }
  writer.end_array();
}

void write_path_parameters(json::Writer& writer, const PathInfo& path, bool v3) {
  if (!path.named && !path.namespaced) {
    return;
  }
  writer.key("parameters").begin_array();
  auto write = [&](std::string_view name) {
    writer.begin_object().member("in", "path").member("name", name).key("required").boolean(true);
    if (v3) {
      writer.key("schema")
          .begin_object()
          .member("type", "string")
          .key("uniqueItems")
          .boolean(true)
          .end_object();
    } else {
      writer.member("type", "string").key("uniqueItems").boolean(true);
    }
    writer.end_object();
  };
  if (path.named) {
    write("name");
  }
  if (path.namespaced) {
    write("namespace");
  }
  writer.end_array();
}

void write_content(json::Writer& writer, std::string_view type, const std::string& schema) {
  writer.key(type).begin_object();
  if (!schema.empty()) {
    writer.key("schema").begin_object().member("$ref", std::string(kSchemas) + schema).end_object();
  }
  writer.end_object();
}

// The types of patches tell kubectl how it may patch: strategically built-in kinds only.
void write_request_body(json::Writer& writer, const OperationInfo& operation) {
  writer.key("requestBody").begin_object().key("content").begin_object();
  if (operation.method == "patch") {
    write_content(writer, "application/apply-patch+yaml", "");
    write_content(writer, "application/json-patch+json", "");
    write_content(writer, "application/merge-patch+json", "");
    if (!operation.custom) {
      write_content(writer, "application/strategic-merge-patch+json", "");
    }
  } else {
    write_content(writer, operation.custom ? "application/json" : "*/*", operation.schema);
  }
  writer.end_object().key("required").boolean(true).end_object();
}

}  // namespace

std::vector<PathInfo> paths_of(const GroupVersion& group_version) {
  std::vector<PathInfo> paths;
  for (const Served& served : group_version.served) {
    add_resource(paths, group_version, served);
  }
  return paths;
}

void write_paths_v3(json::Writer& writer, const std::vector<PathInfo>& paths) {
  for (const PathInfo& path : paths) {
    writer.key(path.path).begin_object();
    for (const OperationInfo& operation : path.operations) {
      writer.key(operation.method).begin_object();
      write_parameters(writer, operation, true);
      if (operation.writes) {
        write_request_body(writer, operation);
      }
      writer.key("responses").begin_object().key("200").begin_object();
      writer.key("content").begin_object();
      write_content(writer, "application/json", operation.schema);
      writer.end_object().member("description", "OK").end_object().end_object();
      write_kind(writer, operation);
      writer.end_object();
    }
    write_path_parameters(writer, path, true);
    writer.end_object();
  }
}

void write_paths_v2(json::Writer& writer, const std::vector<PathInfo>& paths) {
  for (const PathInfo& path : paths) {
    writer.key(path.path).begin_object();
    for (const OperationInfo& operation : path.operations) {
      writer.key(operation.method).begin_object();
      write_parameters(writer, operation, false);
      writer.key("responses")
          .begin_object()
          .key("200")
          .begin_object()
          .member("description", "OK")
          .end_object()
          .end_object();
      write_kind(writer, operation);
      writer.end_object();
    }
    write_path_parameters(writer, path, false);
    writer.end_object();
  }
}

}  // namespace codeflare::apiserver::openapi
