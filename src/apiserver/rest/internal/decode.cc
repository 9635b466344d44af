#include "apiserver/rest/internal/decode.h"

#include "apiserver/proto/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/turns.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/walk.h"
#include "json/parse.h"
#include "json/replace_text.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/gvk.h"

namespace codeflare::apiserver::internal {
namespace {

constexpr std::string_view kAcceptedBodies =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::size_t kComplaintsMax = 100;

Result<json::Document> decode_yaml(std::string_view body, std::vector<std::string>* duplicates) {
  json::YamlOptions options;
  options.duplicate_keys = duplicates;
  TRY_ASSIGN(std::vector<json::Document> documents, json::parse_yaml(body, options));
  if (documents.size() != 1) {
    return fail(bad_request("the body must hold one YAML document, it has " +
                            std::to_string(documents.size())));
  }
  return std::move(documents.front());
}

// Fills in apiVersion and kind when they are absent, otherwise they must be the expected ones.
Result<void> check_type(const Expected& expected, json::Arena& arena, json::Value& object) {
  const std::string_view kind = object.string_or_empty("kind");
  const std::string_view version = object.string_or_empty("apiVersion");
  if (!kind.empty() && kind != expected.kind) {
    return fail(bad_request(std::string(kind) + " in version \"" +
                            model::parse_api_version(version).version +
                            "\" cannot be handled as a " + expected.kind +
                            ": the request's resource takes another kind"));
  }
  if (!version.empty() && version != expected.api_version) {
    return fail(bad_request("the API version in the data (" + std::string(version) +
                            ") does not match the expected API version (" + expected.api_version +
                            ")"));
  }
  if (kind.empty()) {
    object.set_static(arena, "kind", json::Value::string(arena, expected.kind));
  }
  if (version.empty()) {
    object.set_static(arena, "apiVersion", json::Value::string(arena, expected.api_version));
  }
  return {};
}

Error cannot_be_handled(const Expected& expected, const json::Value& object, std::string_view why) {
  if (expected.patched) {
    FieldErrors errors;
    errors.invalid_text("patch", json::to_text(object), why);
    return errors.to_error("", "", "");
  }
  std::string message = expected.kind + " in version \"" +
                        model::parse_api_version(expected.api_version).version +
                        "\" cannot be handled as a " + expected.kind + ": ";
  return bad_request(std::move(message.append(why)));
}

Result<void> check_shapes(const Expected& expected, const json::Value& object) {
  // Custom resources say what is wrong field by field, when they are validated.
  Result<void> shapes = expected.custom || expected.schema == nullptr
                            ? Result<void>()
                            : schema::check_shapes(*expected.schema, object);
  if (shapes && (expected.custom || expected.schema == nullptr)) {
    const json::Value* metadata = object.find("metadata");
    if (metadata != nullptr) {
      shapes = schema::check_shapes(schema::object_meta(), *metadata);
    }
  }
  if (!shapes) {
    return fail(cannot_be_handled(expected, object, shapes.error().message));
  }
  return {};
}

// `sent` is the object with its unknown fields.
Result<void> report(const Expected& expected, const json::Value& sent,
                    std::vector<std::string> complaints, FieldValidation validation,
                    std::vector<std::string>& warnings) {
  if (complaints.empty()) {
    return {};
  }
  if (complaints.size() > kComplaintsMax) {
    complaints.resize(kComplaintsMax);
  }
  if (validation == FieldValidation::warn) {
    warnings.insert(warnings.end(), complaints.begin(), complaints.end());
    return {};
  }
  std::string message;
  for (const std::string& complaint : complaints) {
    message.append(message.empty() ? "strict decoding error: " : ", ").append(complaint);
  }
  return fail(cannot_be_handled(expected, sent, message));
}

}  // namespace

Task<Result<std::string>> read_body(Call& call) {
  return read_body(call, call.server.options.body_bytes_max);
}

Task<Result<std::string>> read_body(Call& call, std::size_t limit) {
  if (call.request.body_size && *call.request.body_size > limit) {
    co_return fail(body_too_large(limit));
  }
  if (call.request.body == nullptr) {
    co_return std::string();
  }
  call.place.give_back();
  Result<std::string> body =
      co_await net::read_all(std::move(call.request.body), limit, call.server.bodies);
  if (!body && body.error().code == ErrorCode::too_large) {
    co_return fail(body_too_large(limit));
  }
  if (!body && body.error().code == ErrorCode::resource_exhausted) {
    co_return fail(too_many_requests("the server has no room for another large body: " +
                                         body.error().message + ", try again later",
                                     1));
  }
  if (body) {
    CO_TRY(call.place.take());
    call.body_bytes = body->size();
    call.enter_step();
  }
  co_return body;
}

Result<json::Document> parse_sent(std::string_view body, std::vector<std::string>* duplicates) {
  json::ParseOptions options;
  options.duplicate_keys = duplicates;
  Result<json::Document> document = json::parse_in_place(body, options);
  if (document || document.error().code != ErrorCode::invalid_argument) {
    return document;
  }
  // Upstream's reader puts U+FFFD where a string holds no text.
  const std::optional<std::string> mended = json::with_replaced_text(body);
  return mended ? json::parse(*mended, options) : std::move(document);
}

Result<json::Document> decode_body(std::string_view body,
                                   std::optional<std::string_view> content_type,
                                   std::vector<std::string>* duplicates) {
  const std::string type = content_type ? media_type(*content_type) : std::string();
  Result<json::Document> document = fail(unsupported_media_type(kAcceptedBodies));
  if (type.empty() || type == kJson) {
    document = parse_sent(body, duplicates);
  } else if (type == kYaml) {
    document = decode_yaml(body, duplicates);
  } else if (type == kProtobuf) {
    Result<DecodedProtobuf> decoded = decode_protobuf(body);
    if (decoded) {
      document = std::move(decoded->document);
    } else {
      document = fail(std::move(decoded).error());
    }
  } else {
    return document;
  }
  if (!document) {
    return fail(bad_request("the object provided is unrecognized: " + document.error().message));
  }
  // To upstream's reader null says nothing about an object.
  if (document->root.is_null() && (type.empty() || type == kJson)) {
    document->root = json::Value::object();
  }
  if (!document->root.is_object()) {
    return fail(bad_request("the object provided is unrecognized: expected an object, got " +
                            std::string(json::to_string(document->root.kind()))));
  }
  return document;
}

Expected expected_of(const Call& call) {
  return {.api_version = call.api_version(),
          .kind = call.resource->kind,
          .schema = call.version->schema,
          .custom = call.resource->custom};
}

Result<void> check_sent_object(const Expected& expected, json::Arena& arena, json::Value& object,
                               FieldValidation validation,
                               const std::vector<std::string>& duplicates,
                               std::vector<std::string>& warnings) {
  TRY(check_type(expected, arena, object));
  TRY(check_shapes(expected, object));
  std::vector<std::string> unknown;
  const bool tell = validation != FieldValidation::ignore;
  // Only a rejected patch shows what it would have made.
  const json::Value sent = expected.patched && validation == FieldValidation::strict
                               ? object.clone(arena)
                               : json::Value();
  if (expected.schema != nullptr) {
    schema::prune(*expected.schema, object, tell ? &unknown : nullptr);
  }
  if (json::Value* metadata = object.find("metadata"); metadata != nullptr) {
    std::vector<std::string> inside;
    schema::prune(schema::object_meta(), *metadata, tell ? &inside : nullptr);
    for (const std::string& path : inside) {
      unknown.push_back("metadata." + path);
    }
  }
  if (tell) {
    std::vector<std::string> complaints;
    for (const std::string& path : unknown) {
      complaints.push_back("unknown field \"" + path + "\"");
    }
    for (const std::string& path : duplicates) {
      complaints.push_back("duplicate field \"" + path + "\"");
    }
    TRY(report(expected, sent, std::move(complaints), validation, warnings));
  }
  return {};
}

Result<void> check_object(const Expected& expected, json::Arena& arena, json::Value& object,
                          FieldValidation validation, const std::vector<std::string>& duplicates,
                          std::vector<std::string>& warnings) {
  TRY(check_sent_object(expected, arena, object, validation, duplicates, warnings));
  if (expected.schema != nullptr) {
    schema::apply_defaults(*expected.schema, arena, object);
  }
  return {};
}

Task<Result<SentObject>> read_object(Call& call, Expected expected, FieldValidation validation) {
  CO_TRY_ASSIGN(std::string body, co_await read_body(call));
  SentObject sent{.text = std::make_unique<const std::string>(std::move(body)), .document = {}};
  auto decode = [&]() -> Result<void> {
    std::vector<std::string> duplicates;
    TRY_ASSIGN(sent.document, decode_body(*sent.text, call.header("Content-Type"), &duplicates));
    return check_object(expected, sent.document.arena, sent.document.root, validation, duplicates,
                        call.warnings);
  };
  CO_TRY(co_await aside(call, call.body_bytes, std::move(decode)));
  co_return sent;
}

}  // namespace codeflare::apiserver::internal
