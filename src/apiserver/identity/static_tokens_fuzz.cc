#include "apiserver/identity/static_tokens.h"
#include "base/check.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Every token file is accepted or rejected; a warning or an error is one line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace codeflare;
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> warnings;
  auto tokens = apiserver::StaticTokens::parse(Secret(std::move(text)), "/f", &warnings);
  for (const std::string& warning : warnings) {
    CHECK(!warning.contains('\n'));
  }
  if (tokens) {
    CHECK(tokens->find("") == nullptr);
  } else {
    CHECK(!tokens.error().message.contains('\n'));
  }
  return 0;
}
