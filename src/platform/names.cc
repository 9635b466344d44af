#include "platform/names.h"

#include <algorithm>
#include <cstdint>

namespace codeflare::platform {

namespace {

constexpr std::size_t kNameMax = 47;
constexpr std::size_t kLetters = 5;

}  // namespace

// FNV-1a.
std::string letters_of(std::string_view text, std::size_t count) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) {
    letters += static_cast<char>('a' + static_cast<char>(hash % 26));
    hash /= 26;
  }
  return letters;
}

std::string wrapper_name(const model::ObjectMeta& run) {
  std::string name = run.name;
  std::ranges::replace(name, '.', '-');
  if (name.empty() || name.front() < 'a' || name.front() > 'z') {
    name.insert(0, "r-");
  }
  name.resize(std::min(name.size(), kNameMax - kLetters - 1));
  while (name.ends_with('-')) {
    name.pop_back();
  }
  return name + "-" +
         (run.uid.empty() ? std::string(kLetters, 'x') : letters_of(run.uid, kLetters));
}

std::string repo_secret_copy(const std::string& wrapper) {
  return wrapper + "-repo";
}

std::string data_secret_copy(const std::string& wrapper, std::size_t index) {
  return wrapper + "-s3-" + std::to_string(index);
}

}  // namespace codeflare::platform
