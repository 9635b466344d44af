#include "apiserver/proto/decode.h"

#include "apiserver/proto/internal/small_message.h"
#include "apiserver/proto/internal/transcoder.h"
#include "apiserver/schema/builtin.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kMagic("k8s\0", 4);
// Registered in every group upstream; what they mean does not depend on it.
constexpr std::array<std::string_view, 6> kOptions = {
    "CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"};

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
};

Result<Envelope> open_envelope(std::string_view body) {
  if (body.empty()) {
    return fail(invalid_argument("empty data"));
  }
  if (!body.starts_with(kMagic)) {
    return fail(
        invalid_argument("provided data does not appear to be a protobuf message, expected prefix "
                         "[107 56 115 0]"));
  }
  if (body.size() == kMagic.size()) {
    return fail(invalid_argument("empty body"));
  }
  internal::SmallMessage envelope;
  internal::SmallMessage type;
  std::string_view problem = envelope.read(body.substr(kMagic.size()), "tt");
  if (problem.empty()) {
    problem = type.read(envelope.texts[0], "tt");
  }
  if (!problem.empty()) {
    return fail(invalid_argument("protobuf: envelope: " + std::string(problem)));
  }
  return Envelope{.api_version = type.texts[0], .kind = type.texts[1], .raw = envelope.texts[1]};
}

const schema::Node* find_kind(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == api_version.npos;
  const std::string_view group = core ? std::string_view() : api_version.substr(0, slash);
  const std::string_view version = core ? api_version : api_version.substr(slash + 1);
  const schema::Node* found = schema::find_builtin(group, version, kind);
  if (found == nullptr && std::ranges::find(kOptions, kind) != kOptions.end()) {
    found = schema::find_builtin("", "v1", kind);
  }
  return found;
}

}  // namespace

Result<DecodedProtobuf> decode_protobuf(std::string_view body, ProtobufDefaults defaults) {
  TRY_ASSIGN(Envelope envelope, open_envelope(body));
  if (envelope.api_version.empty()) {
    envelope.api_version = defaults.api_version;
  }
  if (envelope.kind.empty()) {
    envelope.kind = defaults.kind;
  }
  if (envelope.kind.empty() || envelope.api_version.empty()) {
    return fail(invalid_argument(std::string("Object '") +
                                 (envelope.kind.empty() ? "Kind" : "apiVersion") +
                                 "' is missing in a protobuf message"));
  }
  const schema::Node* node = find_kind(envelope.api_version, envelope.kind);
  if (node == nullptr) {
    return fail(invalid_argument("no kind \"" + std::string(envelope.kind) +
                                 "\" is registered for version \"" +
                                 std::string(envelope.api_version) + "\""));
  }
  DecodedProtobuf result;
  internal::Transcoder transcoder(result.document.arena);
  if (!transcoder.object(*node, envelope.raw, envelope.api_version, envelope.kind,
                         result.document.root)) {
    return fail(transcoder.take_error());
  }
  return result;
}

}  // namespace codeflare::apiserver
