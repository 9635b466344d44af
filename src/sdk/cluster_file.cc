#include "sdk/cluster_file.h"

#include "json/yaml.h"
#include "sdk/cluster_manifest.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

namespace codeflare::sdk {

namespace {

constexpr std::string_view kMark = "# codeflare define ";
constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20;

// FNV-1a: notices edits, protects against nobody.
std::string checksum(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return {digits.data(), end};
}

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
                                 ", not an AppWrapper or RayCluster"));
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
  const std::string yaml = cluster_yaml(config);
  return std::string(kMark) + checksum(yaml) + "\n" + yaml;
}

bool is_unedited(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(kMark) || end == std::string_view::npos) {
    return false;
  }
  return text.substr(kMark.size(), end - kMark.size()) == checksum(text.substr(end + 1));
}

Result<void> write_cluster_file(FileSystem& files, const std::string& path,
                                const ClusterConfig& config, bool force) {
  if (!force && files.exists(path)) {
    TRY_ASSIGN(const std::string old, files.read(path, kManifestBytesMax));
    if (!is_unedited(old)) {
      return fail(
          already_exists(path + " was edited since it was defined; use --force to replace it"));
    }
  }
  return files.write(path, cluster_file_text(config));
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
