// Any bytes: parsing ends, also of what is made readable; what parses is written and read back as
// the same value, and the scanner agrees with the tree about every member it is asked for.

#include "base/check.h"
#include "json/parse.h"
#include "json/replace_text.h"
#include "json/scan.h"
#include "json/write.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {
namespace {

constexpr std::array<std::string_view, 6> kPaths = {"a",   "kind",          "metadata",
                                                    "a.b", "metadata.name", "a.b.c"};

const Value* find_path(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (at != nullptr) {
    std::size_t dot = path.find('.');
    at = at->find(path.substr(0, dot));
    if (dot == path.npos) {
      break;
    }
    path.remove_prefix(dot + 1);
  }
  return at;
}

void check_slices(std::string_view text, const Value& root) {
  std::array<std::string_view, kPaths.size()> slices;
  CHECK(scan(text, kPaths, slices).has_value());
  for (std::size_t i = 0; i < kPaths.size(); ++i) {
    const Value* wanted = find_path(root, kPaths[i]);
    CHECK((wanted != nullptr) == !slices[i].empty());
    if (wanted != nullptr) {
      auto slice = parse(slices[i]);
      CHECK(slice.has_value() && equal(slice->root, *wanted));
    }
  }
}

void check_items(std::string_view text, const Value& root) {
  const Value* items = root.find("items");
  std::vector<std::string> raws;
  auto walked = for_each_item(text, "items", [&](std::string_view raw) -> Result<void> {
    raws.emplace_back(raw);
    return {};
  });
  // Doubled or otherwise odd lists are rejected; the rest is what the tree holds.
  if (!walked) {
    return;
  }
  std::span<const Value> wanted = items == nullptr ? std::span<const Value>() : items->items();
  CHECK(raws.size() == wanted.size() && walked->items == raws.size());
  for (std::size_t i = 0; i < raws.size(); ++i) {
    auto item = parse(raws[i]);
    CHECK(item.has_value() && equal(item->root, wanted[i]));
  }
}

void check_scanners(std::string_view text) {
  std::array<std::string_view, kPaths.size()> slices;
  static_cast<void>(scan(text, kPaths, slices));
  static_cast<void>(scan_watch_event(text));
  static_cast<void>(scan_object_head(text));
  static_cast<void>(
      for_each_item(text, "items", [](std::string_view) -> Result<void> { return {}; }));
  Arena arena;
  static_cast<void>(unquote(text, arena));
}

void run(std::string_view text) {
  check_scanners(text);
  auto document = parse(text);
  auto in_place = parse_in_place(text);
  CHECK(document.has_value() == in_place.has_value());
  if (std::optional<std::string> mended = with_replaced_text(text)) {
    CHECK(!document && !with_replaced_text(*mended));
    static_cast<void>(parse(*mended));
  }
  if (!document) {
    return;
  }
  const Value& root = document->root;
  CHECK(equal(root, in_place->root) && equal(root, root));
  CHECK(to_text(root) == to_text(in_place->root));
  auto compact_form = parse(to_text(root));
  CHECK(compact_form.has_value() && equal(compact_form->root, root));
  auto pretty_form = parse(to_pretty_text(root));
  CHECK(pretty_form.has_value() && equal(pretty_form->root, root));
  CHECK(equal(compact(root).root, root));
  if (root.is_object()) {
    check_slices(text, root);
    check_items(text, root);
  }
}

}  // namespace
}  // namespace codeflare::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::json::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
