#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "node/agent/image_table.h"

#include <string>
#include <vector>

namespace codeflare::up {

// The mapping of an image, as it was requested. Paths are absolute.
struct ImageFlags {
  std::string name;
  std::string python_venv;
  std::string rootfs;
  std::vector<std::string> directories;
  std::string entrypoint;        // words, or a JSON list of them
  std::string args;              // likewise
  std::vector<std::string> env;  // "NAME=VALUE"
  std::string workdir;
};

// The entry for it; looks at the directories that it names.
Result<node::ImageEntry> image_entry(FileSystem& files, const ImageFlags& flags);
// The files of the image, in a few words: "rootfs /images/tool".
std::string image_text(const node::ImageEntry& entry);

// The table of images of a cluster's directory. A running node looks at the file again.
std::string image_table_path(const std::string& directory);
Result<node::ImageTable> read_images(FileSystem& files, const std::string& directory);
// True: there was one of that name, and it is replaced.
Result<bool> put_image(FileSystem& files, const std::string& directory, node::ImageEntry entry);

struct RemovedImages {
  std::vector<std::string> removed;
  std::vector<std::string> missing;
};
Result<RemovedImages> remove_images(FileSystem& files, const std::string& directory,
                                    const std::vector<std::string>& names);

}  // namespace codeflare::up
