#include "apiserver/openapi/documents.h"

#include "apiserver/openapi/internal/gnostic.h"
#include "apiserver/openapi/internal/gnostic_schemas.h"
#include "apiserver/openapi/internal/path_writer.h"
#include "apiserver/openapi/internal/schema_writer.h"
#include "apiserver/schema/builtin.h"
#include "json/write.h"

#include <array>
#include <cstdio>

namespace codeflare::apiserver {
namespace {

using openapi::GroupVersion;
using openapi::PathInfo;
using openapi::Served;

template <typename Schemas>
void want_schemas(Schemas& schemas, const GroupVersion& group_version) {
  for (const Served& served : group_version.served) {
    const Resource& resource = *served.resource;
    if (resource.custom) {
      schemas.want_custom(resource, *served.version);
    } else if (served.version->schema != nullptr) {
      schemas.want(*served.version->schema);
      if (const schema::Node* list =
              schema::find_builtin(resource.group, served.version->version, resource.list_kind)) {
        schemas.want(*list);
      }
    }
    for (const Subresource& sub : served.version->subresources) {
      const std::string& version = sub.version.empty() ? served.version->version : sub.version;
      const std::string& group =
          sub.group.empty() && sub.version.empty() ? resource.group : sub.group;
      if (const schema::Node* node = schema::find_builtin(group, version, sub.kind)) {
        schemas.want(*node);
      }
    }
  }
}

std::string render_v3(const GroupVersion& group_version, const FindDefinition& find) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("components").begin_object().key("schemas").begin_object();
  openapi::SchemaWriter schemas(writer, "#/components/schemas/", find);
  want_schemas(schemas, group_version);
  schemas.write_all();
  writer.end_object().end_object();
  writer.key("info")
      .begin_object()
      .member("title", "Kubernetes")
      .member("version", "unversioned")
      .end_object();
  writer.member("openapi", "3.0.0");
  writer.key("paths").begin_object();
  openapi::write_paths_v3(writer, openapi::paths_of(group_version));
  writer.end_object().end_object();
  return text;
}

// FNV-1a twice: the hash tells documents apart, it keeps nobody out.
std::string hash_of(std::string_view text) {
  std::uint64_t a = 0xcbf29ce484222325;
  std::uint64_t b = 0x84222325cbf29ce4;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    a = (a ^ byte) * 0x100000001b3;
    b = (b ^ byte) * 0x100000001b3 + 1;
  }
  std::array<char, 40> buffer{};
  int length =
      std::snprintf(buffer.data(), buffer.size(), "%016llX%016llX",
                    static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::vector<PathInfo> all_paths(const Registry& registry) {
  std::vector<PathInfo> paths;
  for (const GroupVersion& group_version : openapi::group_versions(registry)) {
    for (PathInfo& path : openapi::paths_of(group_version)) {
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

}  // namespace

void OpenApiDocuments::refresh_hashes() {
  if (generation_ == registry_.generation()) {
    return;
  }
  std::map<std::string, Hashed, std::less<>> hashes;
  for (const GroupVersion& group_version : openapi::group_versions(registry_)) {
    Hashed entry;
    for (const Served& served : group_version.served) {
      entry.resources.push_back(served.resource);
    }
    // The same resources make the same document.
    auto known = hashes_.find(group_version.path());
    bool same = known != hashes_.end() && known->second.resources == entry.resources;
    entry.hash = same ? known->second.hash : hash_of(render_v3(group_version, find_));
    hashes.emplace(group_version.path(), std::move(entry));
  }
  hashes_ = std::move(hashes);
  generation_ = registry_.generation();
}

std::string OpenApiDocuments::v3_index() {
  refresh_hashes();
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("paths").begin_object();
  for (const auto& [path, entry] : hashes_) {
    writer.key(path)
        .begin_object()
        .member("serverRelativeURL", "/openapi/v3/" + path + "?hash=" + entry.hash)
        .end_object();
  }
  writer.end_object().end_object();
  return text;
}

std::string OpenApiDocuments::v3_hash(std::string_view path) {
  refresh_hashes();
  auto at = hashes_.find(path);
  return at == hashes_.end() ? std::string() : at->second.hash;
}

std::optional<std::string> OpenApiDocuments::v3(std::string_view path) const {
  for (const GroupVersion& group_version : openapi::group_versions(registry_)) {
    if (group_version.path() == path) {
      return render_v3(group_version, find_);
    }
  }
  return std::nullopt;
}

std::string OpenApiDocuments::v2_json() const {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("swagger", "2.0");
  writer.key("info")
      .begin_object()
      .member("title", "Kubernetes")
      .member("version", "v1.34.4")
      .end_object();
  writer.key("paths").begin_object();
  openapi::write_paths_v2(writer, all_paths(registry_));
  writer.end_object();
  writer.key("definitions").begin_object();
  openapi::SchemaWriter schemas(writer, "#/definitions/", find_);
  for (const GroupVersion& group_version : openapi::group_versions(registry_)) {
    want_schemas(schemas, group_version);
  }
  schemas.write_all();
  writer.end_object().end_object();
  return text;
}

std::string OpenApiDocuments::v2_protobuf() const {
  openapi::GnosticSchemas schemas;
  for (const GroupVersion& group_version : openapi::group_versions(registry_)) {
    want_schemas(schemas, group_version);
  }
  return openapi::to_gnostic(all_paths(registry_), schemas.take());
}

}  // namespace codeflare::apiserver
