#pragma once

#include <cstdint>
#include <string_view>

namespace codeflare {

// The edition of the program and what build/config.yaml says for it. The one part that differs
// between `codeflare` and `codeflare-release`: made by CMake (src/app/edition.cmake).
struct Edition {
  std::string_view name;  // "community", "release"
  bool release = false;   // checks a licence and may push usage
  std::string_view licence_url;
  std::int64_t licence_store = 0;
  std::int64_t licence_product = 0;
  std::string_view licence_public_key;  // base64
  std::string_view usage_url;
  std::string_view usage_user;
  std::string_view usage_password;
};

const Edition& edition();

}  // namespace codeflare
