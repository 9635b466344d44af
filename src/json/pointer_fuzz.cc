// The first line is a pointer, the rest a document: the pointer prints as it was read, and leads
// where following its tokens one by one leads.

#include "base/check.h"
#include "json/parse.h"
#include "json/pointer.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace codeflare::json {
namespace {

const Value* follow(const Value* at, const Pointer& pointer) {
  for (const std::string& token : pointer.tokens()) {
    Pointer one;
    one.append(token);
    auto parsed = Pointer::parse(one.to_string());
    CHECK(parsed.has_value() && parsed->tokens() == one.tokens());
    at = find(*at, *parsed);
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

void run(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  auto pointer = Pointer::parse(line);
  if (!pointer) {
    return;
  }
  CHECK(pointer->to_string() == line);
  auto document = parse(text.substr(line.size()));
  if (!document) {
    return;
  }
  CHECK(find(document->root, *pointer) == follow(&document->root, *pointer));
  if (!pointer->is_root()) {
    CHECK(pointer->parent().is_proper_prefix_of(*pointer));
  }
}

}  // namespace
}  // namespace codeflare::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::json::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
