#pragma once

#include "base/env/file_system.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// The work of a bad disk that SQLite does not notice: the first byte of the only such word in the
// file becomes another one.
inline void damage(FileSystem& files, const std::string& path, std::string_view word,
                   char becomes = '\0') {
  std::string content = files.read(path).value();
  std::size_t at = content.find(word);
  ASSERT_NE(at, std::string::npos) << word << " is not in " << path;
  ASSERT_EQ(content.find(word, at + 1), std::string::npos) << word << " is there twice";
  content[at] = becomes;
  ASSERT_TRUE(files.write(path, content));
}

}  // namespace codeflare::apiserver
