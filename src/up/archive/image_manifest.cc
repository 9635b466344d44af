#include "up/archive/image_manifest.h"

#include "base/split.h"
#include "json/parse.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace codeflare::up {

namespace {

constexpr int kIndexDepthMax = 4;

std::vector<std::string> strings_at(const json::Value& value, std::string_view key) {
  std::vector<std::string> list;
  if (const json::Value* found = value.find(key); found != nullptr && found->is_array()) {
    for (const json::Value& item : found->items()) {
      if (item.is_string()) {
        list.emplace_back(item.as_string());
      }
    }
  }
  return list;
}

// "sha256:abc" is the file blobs/sha256/abc.
Result<std::string> blob_path(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  const auto is_plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  if (colon == std::string_view::npos || colon + 1 >= digest.size() ||
      !std::ranges::all_of(digest.substr(0, colon), is_plain) ||
      !std::ranges::all_of(digest.substr(colon + 1), is_plain)) {
    return fail(invalid_argument("image archive has a digest that is none"));
  }
  return "blobs/" + std::string(digest.substr(0, colon)) + "/" +
         std::string(digest.substr(colon + 1));
}

Result<std::string> path_of(const json::Value& descriptor) {
  return blob_path(descriptor.string_or_empty("digest"));
}

bool is_for(const json::Value& descriptor, std::string_view architecture) {
  const json::Value* platform = descriptor.find("platform");
  return platform == nullptr || platform->string_or_empty("architecture") == architecture ||
         platform->string_or_empty("architecture").empty();
}

// Docker writes the whole name, others the tag alone.
std::vector<std::string> names_of(const json::Value& descriptor) {
  const json::Value* notes = descriptor.find("annotations");
  if (notes == nullptr) {
    return {};
  }
  for (const std::string_view key :
       {"io.containerd.image.name", "org.opencontainers.image.ref.name"}) {
    const std::string_view name = notes->string_or_empty(key);
    if (!name.empty() && (name.contains(':') || name.contains('/'))) {
      return {std::string(name)};
    }
  }
  return {};
}

struct Layout {
  const std::map<std::string, std::string>& blobs;
  std::string_view architecture;
};

Result<void> read_index(const Layout& layout, const json::Value& index,
                        const std::vector<std::string>& names, int depth,
                        std::vector<ArchivedImage>& images) {
  const json::Value* manifests = index.find("manifests");
  if (manifests == nullptr || !manifests->is_array() || depth > kIndexDepthMax) {
    return fail(invalid_argument("index.json of the image archive has no manifests"));
  }
  for (const json::Value& descriptor : manifests->items()) {
    if (!is_for(descriptor, layout.architecture)) {
      continue;
    }
    std::vector<std::string> own = names_of(descriptor);
    if (own.empty()) {
      own = names;
    }
    TRY_ASSIGN(const std::string path, path_of(descriptor));
    const auto blob = layout.blobs.find(path);
    if (blob == layout.blobs.end()) {
      return fail(invalid_argument("image archive has no file " + path));
    }
    TRY_ASSIGN(const json::Document document, json::parse(blob->second));
    if (document.root.find("manifests") != nullptr) {
      TRY(read_index(layout, document.root, own, depth + 1, images));
      continue;
    }
    const json::Value* config = document.root.find("config");
    const json::Value* layers = document.root.find("layers");
    if (config == nullptr || layers == nullptr || !layers->is_array()) {
      return fail(invalid_argument("image archive has a manifest without config or layers"));
    }
    ArchivedImage image;
    TRY_ASSIGN(image.config, path_of(*config));
    for (const json::Value& layer : layers->items()) {
      TRY_ASSIGN(std::string layer_path, path_of(layer));
      image.layers.push_back(std::move(layer_path));
    }
    image.names = std::move(own);
    // One image with several names is listed once for each.
    const auto same = std::ranges::find_if(images, [&](const ArchivedImage& other) {
      return other.config == image.config && other.layers == image.layers;
    });
    if (same == images.end()) {
      images.push_back(std::move(image));
    } else {
      same->names.insert(same->names.end(), image.names.begin(), image.names.end());
    }
  }
  return {};
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value <= 0xffffffffLL ? std::optional(value) : std::nullopt;
}

// The fields of the line of /etc/passwd or /etc/group that has this value in a column.
std::vector<std::string_view> line_with(std::string_view text, std::size_t column,
                                        std::string_view value) {
  for (const std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() > column && fields[column] == value) {
      return fields;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ArchivedImage>> read_docker_manifest(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  if (!document.root.is_array() || document.root.size() == 0) {
    return fail(invalid_argument("manifest.json of the image archive lists no image"));
  }
  std::vector<ArchivedImage> images;
  for (const json::Value& item : document.root.items()) {
    ArchivedImage image{.names = strings_at(item, "RepoTags"),
                        .config = std::string(item.string_or_empty("Config")),
                        .layers = strings_at(item, "Layers")};
    if (image.config.empty() || image.layers.empty()) {
      return fail(invalid_argument("manifest.json of the image archive has no Config or Layers"));
    }
    images.push_back(std::move(image));
  }
  return images;
}

Result<std::vector<ArchivedImage>> read_oci_index(std::string_view text,
                                                  const std::map<std::string, std::string>& blobs,
                                                  std::string_view architecture) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  std::vector<ArchivedImage> images;
  TRY(read_index({blobs, architecture}, document.root, {}, 0, images));
  if (images.empty()) {
    return fail(invalid_argument("image archive has no image for " + std::string(architecture)));
  }
  return images;
}

Result<ImageConfig> read_image_config(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  ImageConfig config;
  const json::Value* found = document.root.find("config");
  if (found == nullptr || !found->is_object()) {
    return config;
  }
  config.entrypoint = strings_at(*found, "Entrypoint");
  config.args = strings_at(*found, "Cmd");
  config.workdir = std::string(found->string_or_empty("WorkingDir"));
  config.user = std::string(found->string_or_empty("User"));
  for (const std::string& variable : strings_at(*found, "Env")) {
    const std::size_t equals = variable.find('=');
    if (equals != 0 && equals != std::string::npos) {
      config.env.insert_or_assign(variable.substr(0, equals), variable.substr(equals + 1));
    }
  }
  return config;
}

Result<ImageUser> find_user(std::string_view user, std::string_view passwd,
                            std::string_view group) {
  ImageUser found;
  const std::size_t colon = user.find(':');
  const std::string_view name = user.substr(0, colon);
  if (!name.empty()) {
    const std::optional<std::int64_t> number = number_of(name);
    const auto line = line_with(passwd, number ? 2 : 0, name);
    const std::optional<std::int64_t> uid = number            ? number
                                            : line.size() > 3 ? number_of(line[2])
                                                              : std::nullopt;
    if (!uid) {
      return fail(invalid_argument("image has no user " + std::string(name) + " in /etc/passwd"));
    }
    found.user = *uid;
    found.group = line.size() > 3 ? number_of(line[3]).value_or(0) : 0;
  }
  if (colon == std::string_view::npos) {
    return found;
  }
  const std::string_view of = user.substr(colon + 1);
  const auto line = line_with(group, 0, of);
  const std::optional<std::int64_t> gid = number_of(of)     ? number_of(of)
                                          : line.size() > 2 ? number_of(line[2])
                                                            : std::nullopt;
  if (!gid) {
    return fail(invalid_argument("image has no group " + std::string(of) + " in /etc/group"));
  }
  found.group = *gid;
  return found;
}

}  // namespace codeflare::up
