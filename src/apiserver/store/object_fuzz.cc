// Text that is an object gives one whose head says what a parser finds, and putting the same
// revision in again changes nothing.

#include "apiserver/store/object.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/value.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

// The text that a reader of the whole tree finds under metadata.
std::string_view metadata_text(const json::Value& tree, std::string_view key) {
  const json::Value* metadata = tree.find("metadata");
  const json::Value* value = metadata != nullptr ? metadata->find(key) : nullptr;
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

void run(std::string_view text) {
  auto object = make_object({.collection = 1, .text = text, .revision = 42, .created = 7});
  if (!object) {
    return;
  }
  auto again =
      make_object({.collection = 1, .text = (*object)->json(), .revision = 42, .created = 7});
  CHECK(again.has_value() && (*again)->json() == (*object)->json());
  CHECK((*again)->name() == (*object)->name() && (*again)->labels() == (*object)->labels());
  if (!json::parse(text)) {
    return;  // the scan does not look into what it skips
  }
  auto document = json::parse((*object)->json());
  CHECK(document.has_value(), "the splice broke the text");
  const json::Value& tree = document->root;
  CHECK(metadata_text(tree, "resourceVersion") == "42");
  CHECK(metadata_text(tree, "name") == (*object)->name());
  CHECK(metadata_text(tree, "namespace") == (*object)->ns());
  CHECK(metadata_text(tree, "uid") == (*object)->uid());
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
