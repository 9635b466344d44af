#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/patch.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/write.h"
#include "apiserver/schema/builtin.h"
#include "json/parse.h"

namespace codeflare::apiserver::internal {
namespace {

// ".spec.replicas" → the value there, or null.
const json::Value* at_path(const json::Value& object, std::string_view path) {
  const json::Value* value = &object;
  while (value != nullptr && !path.empty()) {
    path.remove_prefix(path.front() == '.' ? 1 : 0);
    const std::size_t dot = path.find('.');
    value = value->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  }
  return value;
}

void set_at_path(json::Arena& arena, json::Value& object, std::string_view path,
                 json::Value value) {
  json::Value* holder = &object;
  while (true) {
    path.remove_prefix(path.front() == '.' ? 1 : 0);
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) {
      holder->set(arena, path, value);
      return;
    }
    json::Value* next = holder->find(path.substr(0, dot));
    if (next == nullptr || !next->is_object()) {
      next = &holder->set(arena, path.substr(0, dot), json::Value::object());
    }
    holder = next;
    path.remove_prefix(dot);
  }
}

// A label selector (or a plain map of labels, or text already) in the form of a query.
std::string selector_text(const json::Value* selector) {
  if (selector == nullptr) {
    return {};
  }
  if (selector->is_string()) {
    return std::string(selector->as_string());
  }
  std::string out;
  auto add = [&](std::string_view part) { out.append(out.empty() ? "" : ",").append(part); };
  const json::Value* labels = selector->find("matchLabels");
  const json::Value* expressions = selector->find("matchExpressions");
  const bool plain = labels == nullptr && expressions == nullptr;
  for (const json::Member& label :
       plain ? selector->members()
             : (labels == nullptr ? std::span<const json::Member>() : labels->members())) {
    if (label.value.is_string()) {
      add(std::string(label.key) + "=" + std::string(label.value.as_string()));
    }
  }
  for (const json::Value& expression :
       expressions == nullptr ? std::span<const json::Value>() : expressions->items()) {
    const std::string key(expression.string_or_empty("key"));
    const std::string_view op = expression.string_or_empty("operator");
    if (op == "Exists") {
      add(key);
    } else if (op == "DoesNotExist") {
      add("!" + key);
    } else {
      std::string values;
      if (const json::Value* list = expression.find("values")) {
        for (const json::Value& value : list->items()) {
          values.append(values.empty() ? "" : ",")
              .append(value.is_string() ? value.as_string() : "");
        }
      }
      add(key + (op == "NotIn" ? " notin (" : " in (") + values + ")");
    }
  }
  return out;
}

json::Value scale_of(const ScaleSubresource& paths, json::Arena& arena, const json::Value& object) {
  json::Value scale = json::Value::object();
  scale.set_static(arena, "kind", json::Value::string_view_of("Scale"));
  scale.set_static(arena, "apiVersion", json::Value::string_view_of("autoscaling/v1"));
  json::Value metadata = json::Value::object();
  for (std::string_view key :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const json::Value* value = object.get({"metadata", key})) {
      metadata.set_static(arena, key, *value);
    }
  }
  scale.set_static(arena, "metadata", metadata);
  json::Value spec = json::Value::object();
  if (const json::Value* replicas = at_path(object, paths.spec_replicas_path);
      replicas != nullptr && replicas->is_number()) {
    spec.set_static(arena, "replicas", *replicas);
  }
  scale.set_static(arena, "spec", spec);
  json::Value status = json::Value::object();
  const json::Value* current = at_path(object, paths.status_replicas_path);
  status.set_static(
      arena, "replicas",
      current != nullptr && current->is_number() ? *current : json::Value::number_text("0"));
  if (!paths.label_selector_path.empty()) {
    const std::string selector = selector_text(at_path(object, paths.label_selector_path));
    if (!selector.empty()) {
      status.set_static(arena, "selector", json::Value::string(arena, selector));
    }
  }
  scale.set_static(arena, "status", status);
  return scale;
}

Result<net::Response> scale_response(Call& call, const Bytes& text) {
  TRY_ASSIGN(json::Document document, json::parse_in_place(text.view()));
  return value_response(200, scale_of(*call.version->scale, document.arena, document.root),
                        call.form);
}

Expected expected_scale() {
  return {.api_version = "autoscaling/v1",
          .kind = "Scale",
          .schema = schema::find_builtin("autoscaling", "v1", "Scale"),
          .custom = false};
}

// The wanted number of replicas put into a copy of the object.
Result<json::Value> scaled(const Call& call, json::Arena& arena, const json::Value& live,
                           const json::Value& scale) {
  const json::Value* replicas = scale.get({"spec", "replicas"});
  const std::int64_t wanted = replicas == nullptr ? 0 : replicas->to_int64().value_or(0);
  if (wanted < 0) {
    FieldErrors errors;
    errors.invalid("spec.replicas", std::to_string(wanted), "must be greater than or equal to 0");
    return fail(errors.to_error("autoscaling", "Scale", call.info.name));
  }
  json::Value object = live.clone(arena);
  set_at_path(arena, object, call.version->scale->spec_replicas_path,
              json::Value::integer(arena, wanted));
  json::Value& metadata = metadata_of(arena, object);
  for (std::string_view key : {"resourceVersion", "uid"}) {
    if (std::string_view text = meta_text(scale, key); !text.empty()) {
      metadata.set_static(arena, key, json::Value::string(arena, text));
    }
  }
  return object;
}

Task<Result<net::Response>> put_scale(Call& call) {
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "UpdateOptions"));
  CO_TRY_ASSIGN(SentObject sent,
                co_await read_object(call, expected_scale(), options.field_validation));
  json::Document& document = sent.document;
  UpdateRequest update{.ns = std::string(call.ns()),
                       .name = call.info.name,
                       .subresource = "scale",
                       .transform = [&](json::Arena& arena, const json::Value& live) {
                         return scaled(call, arena, live, document.root);
                       }};
  CO_TRY_ASSIGN(Written written,
                co_await update_object(call, std::move(update), std::move(options)));
  co_return scale_response(call, written.text);
}

Task<Result<net::Response>> patch_scale(Call& call) {
  CO_TRY_ASSIGN(const PatchType type, patch_type(call));
  if (type == PatchType::apply) {
    co_return fail(not_implemented("server-side apply is not offered on scale"));
  }
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "PatchOptions"));
  CO_TRY_ASSIGN(std::string body, co_await read_body(call));
  std::vector<std::string> duplicates;
  CO_TRY_ASSIGN(json::Document document, decode_patch(type, body, &duplicates));
  Expected expected = expected_scale();
  expected.patched = true;
  const FieldValidation validation = options.field_validation;
  UpdateRequest update{.ns = std::string(call.ns()),
                       .name = call.info.name,
                       .subresource = "scale",
                       .transform = {}};
  update.transform = [&](json::Arena& arena, const json::Value& live) -> Result<json::Value> {
    const json::Value current = scale_of(*call.version->scale, arena, live);
    TRY_ASSIGN(json::Value scale, patched(type, expected.schema, arena, current, document.root));
    TRY(check_object(expected, arena, scale, validation, duplicates, call.warnings));
    return scaled(call, arena, live, scale);
  };
  CO_TRY_ASSIGN(Written written,
                co_await update_object(call, std::move(update), std::move(options)));
  co_return scale_response(call, written.text);
}

}  // namespace

Task<Result<net::Response>> handle_scale(Call& call) {
  call.form = {.pretty = call.form.pretty};
  if (call.info.verb == "update") {
    co_return co_await put_scale(call);
  }
  if (call.info.verb == "patch") {
    co_return co_await patch_scale(call);
  }
  if (call.info.verb != "get") {
    co_return fail(method_not_allowed());
  }
  ObjectPtr object = call.server.store().get(call.resource->collection, call.ns(), call.info.name);
  if (object == nullptr) {
    co_return fail(not_found_error(*call.resource, call.info.name));
  }
  co_return scale_response(call, object->text());
}

}  // namespace codeflare::apiserver::internal
