#pragma once

#include "base/env/env.h"
#include "cli/session/console.h"
#include "cli/verbs/verb.h"
#include "up/archive/load_image.h"
#include "up/images.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kImage;

// `codeflare image` on the table of a cluster's directory. Paths are absolute.
int run_image_add(Env env, Console& console, const std::string& directory,
                  const up::ImageFlags& flags);
int run_image_load(Env env, Console& console, up::UnpackPlace& place, const std::string& directory,
                   const std::string& archive, const std::string& name);
int run_image_list(Env env, Console& console, const std::string& directory, bool json);
int run_image_remove(Env env, Console& console, const std::string& directory,
                     const std::vector<std::string>& names);

}  // namespace codeflare::cli
