#include "controllers/appwrapper/app_wrapper_object.h"

#include "json/value.h"
#include "model/codec/app_wrapper.h"
#include "model/resources.h"

#include <string>
#include <utility>

namespace codeflare::controllers {

model::ResourceType app_wrapper_type(bool legacy) {
  model::ResourceType type = model::resource_type<model::AppWrapper>();
  if (legacy) {
    type.group = model::kLegacyAppWrapperGroup;
  }
  return type;
}

namespace {

Result<model::AppWrapper> decode(json::Document& document) {
  // Both groups have the same fields; the codec knows one of the names.
  document.root.set_static(
      document.arena, "apiVersion",
      json::Value::string_view_of(model::ResourceTraits<model::AppWrapper>::api_version));
  document.root.set_static(
      document.arena, "kind",
      json::Value::string_view_of(model::ResourceTraits<model::AppWrapper>::kind));
  return model::from_json<model::AppWrapper>(document.root);
}

}  // namespace

Result<model::AppWrapper> to_app_wrapper(const kube::Object& object) {
  TRY_ASSIGN(json::Document document, object.parse());
  return decode(document);
}

Result<model::AppWrapper> to_app_wrapper_without_spec(const kube::Object& object) {
  TRY_ASSIGN(json::Document document, object.parse());
  document.root.set_static(document.arena, "spec", json::Value::object());
  return decode(document);
}

}  // namespace codeflare::controllers
