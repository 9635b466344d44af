#include "apiserver/rest/internal/delete_options.h"

#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/schema/field_errors.h"

#include <charconv>

namespace codeflare::apiserver::internal {
namespace {

Result<Propagation> propagation_of(std::string_view text, FieldErrors& errors) {
  if (text.empty()) {
    return Propagation::unset;
  }
  if (text == "Background") {
    return Propagation::background;
  }
  if (text == "Foreground") {
    return Propagation::foreground;
  }
  if (text == "Orphan") {
    return Propagation::orphan;
  }
  errors.not_supported("propagationPolicy", "\"" + std::string(text) + "\"",
                       {"Foreground", "Background", "Orphan", "nil"});
  return Propagation::unset;
}

Result<DeleteOptions> finish(DeleteOptions options, FieldErrors errors) {
  if (options.orphan_dependents && options.propagation != Propagation::unset) {
    errors.invalid("propagationPolicy", "\"\"",
                   "orphanDependents and deletionPropagation cannot be both set");
  }
  if (!errors.empty()) {
    return fail(errors.to_error("meta.k8s.io", "DeleteOptions", ""));
  }
  return options;
}

void read_dry_run(DeleteOptions& options, std::string_view value, FieldErrors& errors) {
  options.dry_run = true;
  if (value != "All") {
    errors.not_supported("dryRun", "[\"" + std::string(value) + "\"]", {"All"});
  }
}

// Null when it is not given. An unknown value must not be ignored: the object would be gone
// although somebody asked that it stay.
Result<const json::Value*> member_of(const json::Value& object, std::string_view name,
                                     json::Kind kind, std::string_view type) {
  const json::Value* value = object.find(name);
  if (value == nullptr || value->is_null()) {
    return nullptr;
  }
  if (value->kind() != kind) {
    return fail(bad_request("json: cannot unmarshal field DeleteOptions." + std::string(name) +
                            ": it must be of type " + std::string(type)));
  }
  return value;
}

}  // namespace

Result<DeleteOptions> DeleteOptions::from_object(const json::Value& object) {
  DeleteOptions options;
  FieldErrors errors;
  if (std::string_view kind = object.string_or_empty("kind");
      !kind.empty() && kind != "DeleteOptions") {
    return fail(bad_request("decoded object cannot be converted to DeleteOptions"));
  }
  if (const json::Value* grace = object.find("gracePeriodSeconds"); grace && !grace->is_null()) {
    options.grace_seconds = grace->to_int64();
    if (!options.grace_seconds) {
      return fail(bad_request("gracePeriodSeconds must be a whole number"));
    }
  }
  TRY_ASSIGN(const json::Value* policy,
             member_of(object, "propagationPolicy", json::Kind::string, "string"));
  TRY_ASSIGN(options.propagation,
             propagation_of(policy == nullptr ? "" : policy->as_string(), errors));
  TRY_ASSIGN(const json::Value* orphan,
             member_of(object, "orphanDependents", json::Kind::boolean, "bool"));
  if (orphan != nullptr) {
    options.orphan_dependents = orphan->as_bool();
  }
  TRY_ASSIGN(const json::Value* preconditions,
             member_of(object, "preconditions", json::Kind::object, "Preconditions"));
  if (preconditions != nullptr) {
    TRY_ASSIGN(const json::Value* uid, member_of(*preconditions, "uid", json::Kind::string, "UID"));
    if (uid != nullptr) {
      options.uid = uid->as_string();
    }
    TRY_ASSIGN(const json::Value* revision,
               member_of(*preconditions, "resourceVersion", json::Kind::string, "string"));
    if (revision != nullptr) {
      options.resource_version = revision->as_string();
    }
  }
  TRY_ASSIGN(const json::Value* dry, member_of(object, "dryRun", json::Kind::array, "[]string"));
  if (dry != nullptr) {
    for (const json::Value& item : dry->items()) {
      read_dry_run(options, item.is_string() ? item.as_string() : std::string_view(), errors);
    }
  }
  return finish(std::move(options), std::move(errors));
}

Result<DeleteOptions> DeleteOptions::from_query(const Query& query) {
  DeleteOptions options;
  FieldErrors errors;
  if (std::string_view text = query.get("gracePeriodSeconds").value_or(""); !text.empty()) {
    std::int64_t value = 0;
    auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (bad != std::errc() || end != text.data() + text.size()) {
      return fail(
          bad_request("strconv.ParseInt: parsing \"" + std::string(text) + "\": invalid syntax"));
    }
    options.grace_seconds = value;
  }
  TRY_ASSIGN(options.propagation,
             propagation_of(query.get("propagationPolicy").value_or(""), errors));
  if (query.get("orphanDependents")) {
    options.orphan_dependents = query.flag("orphanDependents");
  }
  for (const auto& [name, value] : query.all()) {
    if (name == "dryRun" && !value.empty()) {
      read_dry_run(options, value, errors);
    }
  }
  return finish(std::move(options), std::move(errors));
}

Task<Result<DeleteOptions>> delete_options(Call& call) {
  CO_TRY_ASSIGN(std::string body, co_await read_body(call));
  if (body.empty()) {
    co_return DeleteOptions::from_query(call.info.query);
  }
  CO_TRY_ASSIGN(json::Document document, decode_body(body, call.header("Content-Type"), nullptr));
  co_return DeleteOptions::from_object(document.root);
}

}  // namespace codeflare::apiserver::internal
