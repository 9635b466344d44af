#include "sdk/cluster_file.h"

#include "json/yaml.h"
#include "sdk/cluster_manifest.h"
#include "sdk/definition_file.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::sdk {

namespace {

constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20;

// The AppWrapper's own name, or the RayCluster's.
Result<std::string> cluster_name(const json::Value& root) {
  const std::string_view kind = root.string_or_empty("kind");
  const json::Value* metadata = root.find("metadata");
  const std::string name(metadata == nullptr ? "" : metadata->string_or_empty("name"));
  if (kind == "RayCluster") {
    return name;
  }
  if (kind != "AppWrapper") {
    return fail(invalid_argument("holds " + (kind.empty() ? "no kind" : "a " + std::string(kind)) +
                                 ", not an AppWrapper or RayCluster; write one with "
                                 "'codeflare define raycluster'"));
  }
  const json::Value* items = root.get({"spec", "resources", "GenericItems"});
  for (const json::Value& item :
       items == nullptr ? std::span<const json::Value>() : items->items()) {
    const json::Value* wrapped = item.find("generictemplate");
    if (wrapped != nullptr && wrapped->string_or_empty("kind") == "RayCluster") {
      return name;
    }
  }
  return fail(invalid_argument("holds an AppWrapper without a RayCluster"));
}

}  // namespace

std::string cluster_file_name(std::string_view name) {
  return std::string(name) + ".yaml";
}

std::string cluster_file_text(const ClusterConfig& config) {
  return definition_text(cluster_yaml(config));
}

Result<void> write_cluster_file(FileSystem& files, const std::string& path,
                                const ClusterConfig& config, bool force) {
  return write_definition(files, path, cluster_yaml(config), force);
}

Result<bool> is_edited_cluster_file(FileSystem& files, const std::string& path) {
  const Result<std::string> text = files.read(path, kManifestBytesMax);
  if (!text && text.error().code == ErrorCode::not_found) {
    return false;
  }
  if (!text) {
    return fail(text.error());
  }
  return !is_unedited(*text);
}

Result<json::Document> read_cluster_file(FileSystem& files, const std::string& path,
                                         std::string_view name) {
  TRY_ASSIGN(const std::string text, files.read(path, kManifestBytesMax));
  Result<std::vector<json::Document>> documents = json::parse_yaml(text);
  if (!documents) {
    return fail(std::move(documents).error().with_context(path));
  }
  if (documents->size() != 1) {
    return fail(invalid_argument(path + ": has " + std::to_string(documents->size()) +
                                 " documents; a cluster is one"));
  }
  Result<std::string> found = cluster_name(documents->front().root);
  if (!found) {
    return fail(std::move(found).error().with_context(path));
  }
  if (!name.empty() && *found != name) {
    return fail(invalid_argument(path + ": defines cluster '" + *found + "', not '" +
                                 std::string(name) + "'; use --name " + *found +
                                 " or change metadata.name"));
  }
  return std::move(documents->front());
}

}  // namespace codeflare::sdk
