// The first line is a document, the rest a patch. For any input the merge ends with valid JSON that
// lives in the document's arena, and leaves the patch as it was.

#include "apiserver/patch/strategic_merge.h"
#include "apiserver/patch/testing/test_schema.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

// One-letter names, so that the fuzzer finds them: l map, f scalars, c elements by n, a plain list,
// s the same again, r replaced.
struct Schema : TestSchema {
  Schema() {
    Node& element = structure({{"n", &any()}, {"l", &map(text())}, {"f", &merged_list(any())}});
    Node& inner = structure({{"l", &map(any())}, {"c", &merged_list(element, "n")}});
    Node& replaced = structure({{"l", &map(text())}});
    replaced.patch = schema::PatchStrategy::replace;
    root = &structure({{"l", &map(text())},
                       {"f", &merged_list(any())},
                       {"c", &merged_list(element, "n")},
                       {"a", &list(any())},
                       {"s", &inner},
                       {"r", &replaced}});
  }
  const Node* root = nullptr;
};

void run(std::string_view text) {
  static const Schema kSchema;
  std::size_t line_end = text.find('\n');
  if (line_end == text.npos) {
    return;
  }
  auto target = json::parse(text.substr(0, line_end));
  auto patch = json::parse(text.substr(line_end + 1));
  if (!target || !patch || !target->root.is_object()) {
    return;
  }
  std::string before = json::to_text(patch->root);
  auto result = strategic_merge(*kSchema.root, target->arena, target->root, patch->root);
  CHECK(json::to_text(patch->root) == before);
  patch = fail(cancelled());
  if (result) {
    CHECK(json::parse(json::to_text(target->root)).has_value());
  }
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
