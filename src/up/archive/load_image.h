#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "up/archive/image_archive.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::up {

// The way to real files; one of its own in tests.
class UnpackPlace {
 public:
  virtual ~UnpackPlace() = default;
  virtual Result<std::unique_ptr<ArchiveFile>> open(const std::string& path) = 0;
  // Into a new directory, which is made.
  virtual Result<std::unique_ptr<TreeWriter>> write_to(const std::string& directory) = 0;
};
std::unique_ptr<UnpackPlace> real_unpack_place();

struct LoadedImage {
  std::vector<std::string> names;
  std::string root;
  std::size_t files = 0;
  bool unpacked = false;  // false: it was there already
};

// Unpacks every image of an archive below `directory`/node/unpacked, each in a directory named
// after its configuration, and enters its names into the table of images. `name` replaces the names
// of the archive. Blocks.
Result<std::vector<LoadedImage>> load_images(FileSystem& files, UnpackPlace& place,
                                             const std::string& directory,
                                             const std::string& archive, const std::string& name);

}  // namespace codeflare::up
