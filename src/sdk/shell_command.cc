#include "sdk/shell_command.h"

#include <algorithm>
#include <string_view>

namespace codeflare::sdk {

std::string shell_command(const std::vector<std::string>& words) {
  if (words.size() == 1) {
    return words.front();
  }
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").contains(c);
  };
  std::string command;
  for (const std::string& word : words) {
    command += command.empty() ? "" : " ";
    if (!word.empty() && std::ranges::all_of(word, is_plain)) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char c : word) {
      command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    command += '\'';
  }
  return command;
}

}  // namespace codeflare::sdk
