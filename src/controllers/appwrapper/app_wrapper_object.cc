#include "controllers/appwrapper/app_wrapper_object.h"

#include "controllers/status_patch.h"
#include "json/merge_patch.h"
#include "json/value.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/resources.h"

#include <string>
#include <utility>

namespace codeflare::controllers {

model::ResourceType app_wrapper_type(model::WrapperApi api) {
  return api == model::WrapperApi::mcad_v1beta1 ? model::resource_type<model::LegacyAppWrapper>()
                                                : model::resource_type<model::AppWrapper>();
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

Result<std::string> status_body(const kube::Object& object, const model::AppWrapperStatus& before,
                                const model::AppWrapperStatus& after) {
  TRY_ASSIGN(const json::Document document, object.parse());
  const json::Value* status = document.root.find("status");
  const json::Document now = json::apply_merge_patch(status == nullptr ? json::Value() : *status,
                                                     status_changes(before, after).root);
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", object.api_version()).member("kind", object.kind());
  w.key("metadata").begin_object().member("name", object.name());
  w.member("namespace", object.ns()).member("uid", object.uid());
  w.member("resourceVersion", object.resource_version()).end_object();
  w.key("status").value(now.root).end_object();
  return body;
}

}  // namespace codeflare::controllers
