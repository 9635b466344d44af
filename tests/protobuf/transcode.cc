// One body per line, in base64: "protobuf BODY" is decoded, "json BODY" brought into the form of
// its built-in kind. Each answer is a line of JSON, or begins with "error " and says why a body was
// rejected. For protobuf_test.

#include "apiserver/proto/decode.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/builtin_form.h"
#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"

#include <iostream>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

Result<std::string> formed(std::string_view text) {
  TRY_ASSIGN(json::Document document, json::parse(text));
  const std::string_view api_version = document.root.string_or_empty("apiVersion");
  const std::size_t slash = api_version.find('/');
  const bool core = slash == api_version.npos;
  const schema::Node* kind = schema::find_builtin(
      core ? "" : api_version.substr(0, slash), core ? api_version : api_version.substr(slash + 1),
      document.root.string_or_empty("kind"));
  if (kind == nullptr) {
    return fail(not_found("no such kind"));
  }
  const json::Value value = schema::builtin_form(*kind, document.root, document.arena);
  const std::string once = json::to_text(value);
  if (json::to_text(schema::builtin_form(*kind, value, document.arena)) != once) {
    return fail(internal_error("the form of the form differs"));
  }
  return once;
}

Result<std::string> answer(std::string_view line) {
  const std::size_t space = line.find(' ');
  TRY_ASSIGN(std::string body, from_base64(line.substr(space + 1)));
  if (line.substr(0, space) == "json") {
    return formed(body);
  }
  TRY_ASSIGN(DecodedProtobuf decoded, decode_protobuf(body));
  return json::to_text(decoded.document.root);
}

}  // namespace
}  // namespace codeflare::apiserver

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    auto result = codeflare::apiserver::answer(line);
    std::cout << (result ? *result : "error " + result.error().to_string()) << '\n';
  }
  return 0;
}
