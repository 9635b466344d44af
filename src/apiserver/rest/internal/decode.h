#pragma once

#include "apiserver/rest/internal/server.h"
#include "apiserver/rest/internal/write_options.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// The request's body, up to the limit (413). Until all of it is there the request gives up its
// place in flight, and may find none afterwards (429).
Task<Result<std::string>> read_body(Call& call);
Task<Result<std::string>> read_body(Call& call, std::size_t limit);

// JSON, read as upstream reads what is sent to it. Values may point into `body`.
Result<json::Document> parse_sent(std::string_view body, std::vector<std::string>* duplicates);

// JSON, YAML or protobuf as its Content-Type says (415 for others; none means JSON). Values may
// point into `body`. `duplicates` receives the paths of keys that occur twice.
Result<json::Document> decode_body(std::string_view body,
                                   std::optional<std::string_view> content_type,
                                   std::vector<std::string>* duplicates);

// The required type of a body, checked first.
struct Expected {
  std::string api_version;
  std::string kind;
  const schema::Node* schema = nullptr;
  bool custom = false;
  bool patched = false;  // what is wrong is the fault of a patch: 422, not 400
};
Expected expected_of(const Call& call);

// Checks kind, apiVersion and shapes and removes unknown fields (reported as the options say).
Result<void> check_sent_object(const Expected& expected, json::Arena& arena, json::Value& object,
                               FieldValidation validation,
                               const std::vector<std::string>& duplicates,
                               std::vector<std::string>& warnings);
// The same, and fills in the schema's defaults. The object stays in the request's version.
Result<void> check_object(const Expected& expected, json::Arena& arena, json::Value& object,
                          FieldValidation validation, const std::vector<std::string>& duplicates,
                          std::vector<std::string>& warnings);

// The object of a request's body, with the text that its values may point into.
struct SentObject {
  std::unique_ptr<const std::string> text;
  json::Document document;
};
// Reads, decodes and checks it.
Task<Result<SentObject>> read_object(Call& call, Expected expected, FieldValidation validation);

}  // namespace codeflare::apiserver::internal
