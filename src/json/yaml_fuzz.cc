// Any bytes: reading ends; what is read is printed and read back as the same value. JSON can always
// be printed as YAML that reads at all.

#include "base/check.h"
#include "json/parse.h"
#include "json/yaml.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {
namespace {

void run(std::string_view text) {
  YamlOptions options;
  std::vector<std::string> duplicates;
  options.duplicate_keys = &duplicates;
  options.keep_empty_documents = true;
  options.max_alias_bytes = 1 << 20;
  if (auto documents = parse_yaml(text, options)) {
    for (const Document& document : *documents) {
      auto back = parse_yaml(to_yaml(document.root), options);
      CHECK(back.has_value() && back->size() == 1 && equal(back->front().root, document.root));
    }
  }
  if (auto document = parse(text)) {
    auto back = parse_yaml(to_yaml(document->root), options);
    CHECK(back.has_value() && back->size() == 1);
  }
}

}  // namespace
}  // namespace codeflare::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::json::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
