// Options and repo URLs: whatever is split can be quoted and split again, and nothing crashes.

#include "base/check.h"
#include "platform/repo_url.h"
#include "platform/words.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace codeflare;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto words = platform::split_words(text)) {
    std::string line;
    for (const std::string& word : *words) {
      line += platform::quote_word(word) + " ";
    }
    const auto again = platform::split_words(line);
    CHECK(again && *again == *words);
  }
  static_cast<void>(platform::parse_repo(text, "", ""));
  return 0;
}
