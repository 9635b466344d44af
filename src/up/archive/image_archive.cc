#include "up/archive/image_archive.h"

#include "up/archive/tar_reader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace codeflare::up {

namespace {

using Node = ImageTree::Node;

constexpr std::uint64_t kSmall = std::uint64_t{4} << 20;  // manifests and configurations
constexpr std::size_t kSmallMax = 4096;                   // so many of them
constexpr std::size_t kFilesMax = 100'000;

// "./a//b" is "a/b".
std::string plain(std::string_view path) {
  std::string text;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") {
      text += (text.empty() ? "" : "/") + std::string(part);
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return text;
}

Result<std::string> read_whole(TarReader& tar, std::uint64_t size) {
  std::string text(size, '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    TRY_ASSIGN(const std::size_t count, tar.read(std::span(text).subspan(at)));
    at += count;
  }
  return text;
}

using Visit = std::function<Result<void>(const std::string& path, const Node& node)>;

// Directories before what is in them.
Result<void> walk(const Node& directory, const std::string& at, const Visit& visit) {
  for (const auto& [name, child] : directory.children) {
    const std::string path = at.empty() ? name : at + "/" + name;
    TRY(visit(path, *child));
    TRY(walk(*child, path, visit));
  }
  return {};
}

// Names of each content, in order: the first is the file, the others are links to it.
using Contents = std::map<ContentId, std::vector<std::pair<std::string, std::uint32_t>>>;

}  // namespace

// Small files, and where all others are. Old archives link layers to each other.
Result<std::map<std::string, std::string>> ImageArchive::read_contents(
    std::map<std::string, std::string>& links) {
  std::map<std::string, std::string> small;
  TRY_ASSIGN(const std::unique_ptr<ByteSource> source, file_.open(0, file_.size()));
  TarReader tar(*source);
  while (true) {
    TRY_ASSIGN(const std::optional<TarEntry> entry, tar.next());
    if (!entry) {
      return small;
    }
    if (files_.size() > kFilesMax) {
      return fail(
          invalid_argument("image archive has more than " + std::to_string(kFilesMax) + " files"));
    }
    const std::string path = plain(entry->path);
    if (entry->type == TarEntry::Type::file) {
      files_.insert_or_assign(path, Extent{tar.content_offset(), entry->size});
      if (entry->size <= kSmall && small.size() < kSmallMax && !path.ends_with(".tar")) {
        TRY_ASSIGN(std::string text, read_whole(tar, entry->size));
        // Layers may be as small; only JSON is of interest.
        if (text.starts_with('{') || text.starts_with('[')) {
          small.insert_or_assign(path, std::move(text));
        }
      }
    } else if (entry->type == TarEntry::Type::symlink || entry->type == TarEntry::Type::hard_link) {
      // "ID/layer.tar -> ../X.tar"
      const std::size_t up = entry->link.rfind("../");
      links.insert_or_assign(
          path, plain(up == std::string::npos ? entry->link : entry->link.substr(up + 3)));
    }
  }
}

Result<ImageArchive> ImageArchive::open(ArchiveFile& file, std::string_view architecture) {
  ImageArchive archive(file);
  TRY_ASSIGN(const std::unique_ptr<ByteSource> first, file.open(0, 2));
  std::array<char, 2> magic{};
  TRY(read_exactly(*first, magic, "image archive"));
  if (std::string_view(magic.data(), magic.size()) == "\x1f\x8b") {
    return fail(invalid_argument("is packed as a whole: unpack it first (gunzip)"));
  }
  std::map<std::string, std::string> links;
  TRY_ASSIGN(archive.small_, archive.read_contents(links));
  for (const auto& [path, target] : links) {
    if (const auto found = archive.files_.find(target); found != archive.files_.end()) {
      archive.files_.emplace(path, found->second);
    }
  }
  const auto docker = archive.small_.find("manifest.json");
  const auto oci = archive.small_.find("index.json");
  if (docker != archive.small_.end()) {
    TRY_ASSIGN(archive.images_, read_docker_manifest(docker->second));
  } else if (oci != archive.small_.end()) {
    TRY_ASSIGN(archive.images_, read_oci_index(oci->second, archive.small_, architecture));
  } else {
    return fail(
        invalid_argument("is not an image archive: it has neither manifest.json (docker save) nor "
                         "index.json (OCI)"));
  }
  return archive;
}

Result<ImageConfig> ImageArchive::config(const ArchivedImage& image) const {
  const auto found = small_.find(plain(image.config));
  if (found == small_.end()) {
    return fail(invalid_argument("image archive has no configuration " + image.config));
  }
  return read_image_config(found->second);
}

Result<std::unique_ptr<ByteSource>> ImageArchive::layer(const std::string& path) const {
  const auto found = files_.find(plain(path));
  if (found == files_.end()) {
    return fail(invalid_argument("image archive has no layer " + path));
  }
  TRY_ASSIGN(std::unique_ptr<ByteSource> packed,
             file_.open(found->second.offset, found->second.size));
  return unpacked(std::move(packed));
}

Result<ImageTree> ImageArchive::tree(const ArchivedImage& image) const {
  ImageTree tree;
  for (std::size_t number = 0; number < image.layers.size(); ++number) {
    TRY_ASSIGN(const std::unique_ptr<ByteSource> source, layer(image.layers[number]));
    TarReader tar(*source);
    for (std::size_t entry = 0;; ++entry) {
      TRY_ASSIGN(const std::optional<TarEntry> what, tar.next());
      if (!what) {
        break;
      }
      TRY(tree.add(number, entry, *what));
    }
  }
  return tree;
}

Result<void> ImageArchive::unpack(const ArchivedImage& image, const ImageTree& tree,
                                  TreeWriter& writer, std::uint64_t bytes_max) const {
  Contents contents;
  TRY(walk(tree.root(), "", [&](const std::string& path, const Node& node) -> Result<void> {
    if (node.type == Node::Type::directory) {
      return writer.directory(path);
    }
    if (node.type == Node::Type::file) {
      contents[node.content].emplace_back(path, node.mode);
    }
    return {};
  }));
  std::uint64_t written = 0;
  std::array<char, std::size_t{64} << 10> buffer;
  for (std::size_t number = 0; number < image.layers.size(); ++number) {
    TRY_ASSIGN(const std::unique_ptr<ByteSource> source, layer(image.layers[number]));
    TarReader tar(*source);
    for (std::size_t entry = 0;; ++entry) {
      TRY_ASSIGN(const std::optional<TarEntry> what, tar.next());
      if (!what) {
        break;
      }
      const auto wanted = contents.find({number, entry});
      if (wanted == contents.end()) {
        continue;
      }
      const auto& [path, mode] = wanted->second.front();
      TRY(writer.file(path, mode));
      while (true) {
        TRY_ASSIGN(const std::size_t count, tar.read(buffer));
        if (count == 0) {
          break;
        }
        written += count;
        if (written > bytes_max) {
          return fail(too_large("image has more than " + std::to_string(bytes_max) + " bytes"));
        }
        TRY(writer.append(std::span(buffer).first(count)));
      }
      for (std::size_t i = 1; i < wanted->second.size(); ++i) {
        TRY(writer.hard_link(path, wanted->second[i].first));
      }
    }
  }
  TRY(walk(tree.root(), "", [&](const std::string& path, const Node& node) -> Result<void> {
    return node.type == Node::Type::symlink ? writer.symlink(node.link, path) : Result<void>();
  }));
  return walk(tree.root(), "", [&](const std::string& path, const Node& node) -> Result<void> {
    return node.type == Node::Type::directory ? writer.mode(path, node.mode) : Result<void>();
  });
}

}  // namespace codeflare::up
