#pragma once

#include "base/result.h"
#include "up/archive/byte_source.h"
#include "up/archive/image_manifest.h"
#include "up/archive/image_tree.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

// A file that can be read from any place.
class ArchiveFile {
 public:
  virtual ~ArchiveFile() = default;
  virtual Result<std::unique_ptr<ByteSource>> open(std::uint64_t offset, std::uint64_t size) = 0;
  virtual std::uint64_t size() const = 0;
};

// Where an image's files are written, below one directory that is new and empty. Paths are plain
// names with slashes between them; directories come before what is in them, links last.
class TreeWriter {
 public:
  virtual ~TreeWriter() = default;
  virtual Result<void> directory(const std::string& path) = 0;
  // Makes the file and keeps it open until the next call.
  virtual Result<void> file(const std::string& path, std::uint32_t mode) = 0;
  virtual Result<void> append(std::span<const char> bytes) = 0;
  virtual Result<void> hard_link(const std::string& existing, const std::string& path) = 0;
  virtual Result<void> symlink(const std::string& target, const std::string& path) = 0;
  // Of a directory, when everything is in it.
  virtual Result<void> mode(const std::string& path, std::uint32_t mode) = 0;
};

// An archive of images as docker save, podman save, buildah push and skopeo write them: in Docker's
// form or as an OCI layout, layers plain or packed with gzip. Blocks.
class ImageArchive {
 public:
  // Looks at the table of contents. The file outlives the archive.
  static Result<ImageArchive> open(ArchiveFile& file, std::string_view architecture);

  const std::vector<ArchivedImage>& images() const { return images_; }
  Result<ImageConfig> config(const ArchivedImage& image) const;
  // Names and modes of all layers together.
  Result<ImageTree> tree(const ArchivedImage& image) const;
  // Writes all of it; at most `bytes_max` of content.
  Result<void> unpack(const ArchivedImage& image, const ImageTree& tree, TreeWriter& writer,
                      std::uint64_t bytes_max) const;

 private:
  struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  explicit ImageArchive(ArchiveFile& file) : file_(file) {}
  Result<std::map<std::string, std::string>> read_contents(
      std::map<std::string, std::string>& links);
  Result<std::unique_ptr<ByteSource>> layer(const std::string& path) const;

  ArchiveFile& file_;
  std::map<std::string, Extent> files_;
  std::map<std::string, std::string> small_;  // files that may be JSON
  std::vector<ArchivedImage> images_;
};

}  // namespace codeflare::up
