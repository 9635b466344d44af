#include "runtime/finalizer.h"

#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace codeflare::runtime {

namespace {

// Without a tree of the whole object: this is asked at every look.
std::vector<std::string> finalizers_of(const kube::Object& object) {
  constexpr std::array<std::string_view, 1> kPath = {"metadata.finalizers"};
  std::array<std::string_view, 1> slice;
  const std::string text = object.text();
  std::vector<std::string> names;
  if (!json::scan(text, kPath, slice) || slice[0].empty()) {
    return names;
  }
  if (const Result<json::Document> list = json::parse(slice[0])) {
    for (const json::Value& name : list->root.items()) {
      if (name.is_string()) {
        names.emplace_back(name.as_string());
      }
    }
  }
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string patch_of(const kube::Object& object, const std::vector<std::string>& names) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("uid", object.uid()).member("resourceVersion", object.resource_version());
  w.key("finalizers").begin_array();
  for (const std::string& name : names) {
    w.string(name);
  }
  w.end_array().end_object().end_object();
  return body;
}

}  // namespace

Finalizer::Finalizer(ResourceType type, std::string name)
    : type_(std::move(type)), name_(std::move(name)) {}

bool Finalizer::on(const kube::Object& object) const {
  return holds(finalizers_of(object), name_);
}

Action Finalizer::add(const kube::Object& object, std::string why) const {
  std::vector<std::string> names = finalizers_of(object);
  if (!holds(names, name_)) {
    names.push_back(name_);
  }
  return {.verb = Action::Verb::patch,
          .type = type_,
          .key = object.key(),
          .body = patch_of(object, names),
          .why = std::move(why)};
}

Action Finalizer::remove(const kube::Object& object, std::string why) const {
  std::vector<std::string> names = finalizers_of(object);
  std::erase(names, name_);
  return {.verb = Action::Verb::patch,
          .type = type_,
          .key = object.key(),
          .body = patch_of(object, names),
          .why = std::move(why)};
}

Action Finalizer::remove_from_any_version(ObjectKey key, std::string_view uid,
                                          std::string why) const {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("uid", uid);
  w.key("$deleteFromPrimitiveList/finalizers").begin_array().string(name_).end_array();
  w.end_object().end_object();
  return {.verb = Action::Verb::patch,
          .type = type_,
          .key = std::move(key),
          .body = std::move(body),
          .why = std::move(why),
          .patch_kind = kube::PatchKind::strategic_merge};
}

}  // namespace codeflare::runtime
