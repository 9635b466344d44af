// Any bytes: decoding ends. A decoded body is JSON that can be written and read back. The first
// byte chooses the kind of a body that has no envelope, so that the fuzzer gets past it.

#include "apiserver/proto/decode.h"
#include "apiserver/proto/testing/message_builder.h"
#include "apiserver/schema/builtin.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

void decode(std::string_view body) {
  auto decoded = decode_protobuf(body);
  if (!decoded) {
    const ErrorCode code = decoded.error().code;
    CHECK(code == ErrorCode::invalid_argument || code == ErrorCode::too_large);
    CHECK(!decoded.error().message.empty());
    return;
  }
  const json::Value& root = decoded->document.root;
  CHECK(root.is_object() && !root.string_or_empty("kind").empty());
  const std::string text = json::to_text(root);
  auto again = json::parse(text);
  CHECK(again.has_value() && json::to_text(again->root) == text);
}

void run(std::string_view data) {
  decode(data);
  if (data.empty()) {
    return;
  }
  auto kinds = schema::builtin_kinds();
  const auto& kind = kinds[static_cast<unsigned char>(data.front()) % kinds.size()];
  std::string version(kind.group);
  version += version.empty() ? "" : "/";
  version += kind.version;
  decode(envelope(version, kind.kind, Message().raw(data.substr(1))));
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
