// Texts of a server, read by every reader of the client. Beyond not crashing: whatever is accepted
// as an object keeps its text and shows the same fields when it is read again.

#include "base/check.h"
#include "base/env/sim_env.h"
#include "kube/internal/discovery_parse.h"
#include "kube/internal/error_body.h"
#include "kube/internal/list_body.h"
#include "kube/internal/warnings.h"
#include "kube/object.h"
#include "kube/watch_stream.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace codeflare;

void read_object(std::string_view text) {
  const Result<kube::ObjectRef> object = kube::Object::from_json(text);
  if (!object) {
    return;
  }
  CHECK((*object)->text() == text);
  const Result<kube::ObjectRef> again = kube::Object::from_json((*object)->text());
  CHECK(again.has_value());
  CHECK((*again)->key() == (*object)->key() && (*again)->uid() == (*object)->uid());
  CHECK((*again)->labels_json() == (*object)->labels_json());
  // Packed, it is the same object, also when the sample knows the text or a part of it already.
  const auto sample = std::make_shared<TextSample>();
  for (std::string_view known : {text.substr(0, text.size() / 2), text, text}) {
    sample->pack(known);
    const kube::ObjectRef packed = kube::Object::packed(*object, sample);
    CHECK(packed->text() == text && packed->key() == (*object)->key());
    CHECK(packed->labels_json() == (*object)->labels_json());
  }
  // A tree, when the whole text is valid, agrees with the scan.
  if (Result<json::Document> tree = (*object)->parse()) {
    const json::Value* metadata = tree->root.find("metadata");
    CHECK(metadata != nullptr && metadata->string_or_empty("name") == (*object)->name());
  }
}

Task<void> read_watch(net::Body body) {
  auto stream = kube::make_watch_stream(std::move(body), 1u << 20);
  while (true) {
    Result<std::optional<kube::WatchEvent>> event = co_await stream->next();
    if (!event || !*event) {
      co_return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  SimEnv sim;
  read_object(text);
  run(sim.env().loop, read_watch(net::body_of(text)));
  (void)run(sim.env().loop, kube::internal::parse_list(text));
  (void)kube::internal::parse_discovery_root(text);
  (void)kube::internal::parse_resource_list(text, "g", "v");
  (void)kube::internal::error_of_answer("GET /", 500, text);
  (void)kube::internal::warning_texts(text);
  return 0;
}
