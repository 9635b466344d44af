#include "up/archive/load_image.h"

#include "node/agent/image_table.h"
#include "up/images.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace codeflare::up {

namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{128} << 30;

#if defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#else
constexpr std::string_view kArchitecture = "amd64";
#endif

// Letters and digits of the configuration's name: its digest.
std::string directory_name(const ArchivedImage& image) {
  std::string_view name = image.config;
  name.remove_prefix(name.rfind('/') + 1);
  std::string plain;
  for (const char c : name.substr(0, name.find('.'))) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (kept && plain.size() < 64) {
      plain += c;
    }
  }
  return plain;
}

// Only a file: a link might lead to one of this machine.
std::string text_of(FileSystem& files, const ImageTree& tree, const std::string& root,
                    const std::string& path) {
  const ImageTree::Node* node = tree.find(path);
  if (node == nullptr || node->type != ImageTree::Node::Type::file) {
    return "";
  }
  return files.read(join_path(root, path), std::size_t{1} << 20).value_or("");
}

Result<void> unpack(FileSystem& files, UnpackPlace& place, const ImageArchive& archive,
                    const ArchivedImage& image, const ImageTree& tree, const std::string& root) {
  const std::string partial = root + ".partial";
  TRY(files.remove_all(partial));
  TRY_ASSIGN(const std::unique_ptr<TreeWriter> writer, place.write_to(partial));
  if (Result<void> done = archive.unpack(image, tree, *writer, kBytesMax); !done) {
    static_cast<void>(files.remove_all(partial));
    return done;
  }
  return files.rename(partial, root);
}

Result<LoadedImage> load(FileSystem& files, UnpackPlace& place, const ImageArchive& archive,
                         const ArchivedImage& image, const std::string& directory) {
  const std::string name = directory_name(image);
  if (name.empty()) {
    return fail(invalid_argument("image archive has a configuration without a name"));
  }
  LoadedImage loaded{.names = image.names, .root = join_path(directory, "node/unpacked/" + name)};
  TRY_ASSIGN(const ImageConfig config, archive.config(image));
  TRY_ASSIGN(const ImageTree tree, archive.tree(image));
  loaded.files = tree.size();
  if (!files.exists(loaded.root)) {
    TRY(files.make_directories(join_path(directory, "node/unpacked"), 0700));
    TRY(unpack(files, place, archive, image, tree, loaded.root));
    loaded.unpacked = true;
  }
  TRY_ASSIGN(const ImageUser user,
             find_user(config.user, text_of(files, tree, loaded.root, "etc/passwd"),
                       text_of(files, tree, loaded.root, "etc/group")));
  for (const std::string& tag : loaded.names) {
    node::ImageEntry entry{.image = tag,
                           .root = loaded.root,
                           .directories = {},
                           .entrypoint = config.entrypoint,
                           .args = config.args,
                           .env = config.env,
                           .workdir = config.workdir};
    if (!config.user.empty()) {
      entry.user = user.user;
      entry.group = user.group;
    }
    TRY(put_image(files, directory, std::move(entry)));
  }
  return loaded;
}

}  // namespace

Result<std::vector<LoadedImage>> load_images(FileSystem& files, UnpackPlace& place,
                                             const std::string& directory,
                                             const std::string& archive, const std::string& name) {
  TRY_ASSIGN(const std::unique_ptr<ArchiveFile> file, place.open(archive));
  Result<ImageArchive> opened = ImageArchive::open(*file, kArchitecture);
  if (!opened) {
    return fail(std::move(opened).error().with_context(archive));
  }
  if (!name.empty() && opened->images().size() > 1) {
    return fail(invalid_argument(archive + " has " + std::to_string(opened->images().size()) +
                                 " images: one name cannot stand for all of them"));
  }
  std::vector<LoadedImage> images;
  for (ArchivedImage image : opened->images()) {
    if (!name.empty()) {
      image.names = {name};
    }
    if (image.names.empty()) {
      return fail(invalid_argument(archive + " has an image without a name: add --name NAME:TAG"));
    }
    Result<LoadedImage> loaded = load(files, place, *opened, image, directory);
    if (!loaded) {
      return fail(std::move(loaded).error().with_context(archive));
    }
    images.push_back(*std::move(loaded));
  }
  return images;
}

}  // namespace codeflare::up
