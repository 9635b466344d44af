#include "checkpoint/key_file.h"

#include <cstdint>
#include <utility>

namespace codeflare::checkpoint {

namespace {

constexpr std::size_t kKeyBytesMax = 4096;
constexpr std::size_t kKeyBytesMin = 16;

}  // namespace

Secret make_key(Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  for (int word = 0; word < 4; ++word) {
    std::uint64_t bits = random.next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) {
      key += kDigits[bits & 0xf];
    }
  }
  return Secret(std::move(key));
}

Result<Secret> read_key(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(std::string text, files.read(path, kKeyBytesMax));
  text.erase(text.find_last_not_of("\r\n") + 1);
  if (text.size() < kKeyBytesMin) {
    return fail(invalid_argument("key file " + path + " has " + std::to_string(text.size()) +
                                 " bytes, at least 16 are needed"));
  }
  return Secret(std::move(text));
}

Result<Secret> read_or_make_key(Env env, const std::string& path) {
  if (!env.files.exists(path)) {
    TRY(env.files.make_directories(parent_path(path), 0700));
    Secret key = make_key(env.random);
    TRY(env.files.write(path, key.reveal() + "\n", {.mode = 0600}));
    return key;
  }
  return read_key(env.files, path);
}

}  // namespace codeflare::checkpoint
