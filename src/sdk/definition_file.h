#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <string>
#include <string_view>

// Files that `define` writes in the working directory: kept once somebody has edited them.
namespace codeflare::sdk {

// The YAML behind a first line by which an edit can be noticed.
std::string definition_text(std::string_view yaml);
// Nobody has changed the text since definition_text() made it.
bool is_unedited(std::string_view text);

// Writes the file, replacing it as a whole. A file that somebody has edited, or that is not
// a definition, is kept: already_exists, unless `force`.
Result<void> write_definition(FileSystem& files, const std::string& path, std::string_view yaml,
                              bool force);

}  // namespace codeflare::sdk
