#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "cli/session/console.h"
#include "node/image_table.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// What is to stand for an image, as it was asked for.
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

// `codeflare image` on the table of a cluster's directory. Paths are absolute. A running node looks
// at the file again.
int run_image_add(Env env, Console& console, const std::string& directory, const ImageFlags& flags);
int run_image_list(Env env, Console& console, const std::string& directory, bool json);
int run_image_remove(Env env, Console& console, const std::string& directory,
                     const std::vector<std::string>& names);

// The entry for it; looks at the directories that it names.
Result<node::ImageEntry> image_entry(FileSystem& files, const ImageFlags& flags);

}  // namespace codeflare::cli
