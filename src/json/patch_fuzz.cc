// The first line is a document, the rest a patch: applying it ends within its limits and leaves a
// valid document; a merge diff between the two turns the one into the other.

#include "base/check.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/write.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace codeflare::json {
namespace {

// A merge patch cannot set null: members that are null count as absent on both sides.
Document without_nulls(const Value& value) {
  return apply_merge_patch(Value(), value);
}

void check_merge(const Value& from, const Value& to) {
  Document patch = merge_diff(from, to);
  Document result = apply_merge_patch(from, patch.root);
  CHECK(equal(without_nulls(result.root).root, without_nulls(to).root));
}

void run(std::string_view text) {
  std::size_t line_end = text.find('\n');
  if (line_end == text.npos) {
    return;
  }
  auto target = parse(text.substr(0, line_end));
  auto patch = parse(text.substr(line_end + 1));
  if (!target || !patch) {
    return;
  }
  PatchOptions options;
  options.max_growth_bytes = 1 << 20;
  options.max_work = 100'000;
  if (auto result = apply_patch(target->root, patch->root, options)) {
    ParseOptions deep;
    deep.max_depth = kDepthLimit;
    auto back = parse(to_text(result->root), deep);
    CHECK(back.has_value() && equal(back->root, result->root));
    CHECK(result->arena.bytes_allocated() < (8u << 20) + 64 * text.size());
  }
  check_merge(target->root, patch->root);
  check_merge(patch->root, target->root);
}

}  // namespace
}  // namespace codeflare::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::json::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
