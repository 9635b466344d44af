#include "base/check.h"
#include "ray/ignore_patterns.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare::ray;

// Patterns, a zero byte, then a path. For any input, matching ends, and a pattern that excludes
// everything at the end wins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const std::string_view text = input.substr(0, zero);
  const std::string_view path =
      zero == std::string_view::npos ? std::string_view("a/b.c") : input.substr(zero + 1);
  const IgnorePatterns patterns = IgnorePatterns::parse(text);
  const bool excluded = patterns.excludes(path);
  CHECK(!excluded || !patterns.empty());
  // Comments and blank lines change nothing.
  CHECK(IgnorePatterns::parse("# x\n\n" + std::string(text) + "\n\n#y").excludes(path) == excluded);
  CHECK(IgnorePatterns::parse(std::string(text) + "\n**").excludes("a/b.c"));
  return 0;
}
