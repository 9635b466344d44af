#include "controllers/apps/owners.h"

#include "json/parse.h"
#include "model/codec/meta.h"

#include <utility>

namespace codeflare::controllers::apps {

namespace {

bool selects(const kube::Object& object, const model::StringMap& labels) {
  const Result<json::Document> document = object.parse();
  if (!document) {
    return false;
  }
  const json::Value* selector = document->root.get({"spec", "selector"});
  if (selector == nullptr) {
    return false;
  }
  const auto read = model::from_json<model::LabelSelector>(*selector);
  if (!read) {
    return false;
  }
  const Result<model::Selector> made = model::to_selector(*read);
  return made && made->matches(labels);
}

}  // namespace

Controller controller_of(const kube::Object& object) {
  if (object.owner_references_json().empty()) {
    return {};
  }
  const auto owners = json::parse_in_place(object.owner_references_json());
  if (!owners) {
    return {};
  }
  for (const json::Value& owner : owners->root.items()) {
    const json::Value* controls = owner.find("controller");
    if (controls != nullptr && controls->is_boolean() && controls->as_bool()) {
      return {.uid = std::string(owner.string_or_empty("uid")),
              .api_version = std::string(owner.string_or_empty("apiVersion"))};
    }
  }
  return {};
}

std::string controller_uid(const kube::Object& object) {
  return controller_of(object).uid;
}

std::vector<runtime::ObjectRef> controlled(const runtime::Store& store, std::string_view ns,
                                           std::string_view uid) {
  std::vector<runtime::ObjectRef> found = store.list(ns);
  std::erase_if(found, [&](const runtime::ObjectRef& object) {
    return !object->owner_references_json().contains(uid) || controller_uid(*object) != uid;
  });
  return found;
}

std::vector<runtime::ObjectRef> siblings(const runtime::Store& store,
                                         const model::ObjectMeta& metadata) {
  const model::OwnerReference* controller = model::controller_of(metadata);
  if (controller != nullptr) {
    return controlled(store, metadata.ns, controller->uid);
  }
  const runtime::ObjectRef self = store.get(metadata.key());
  return self == nullptr ? std::vector<runtime::ObjectRef>() : std::vector{self};
}

model::StringMap labels_of(const kube::Object& object) {
  model::StringMap labels;
  if (object.labels_json().empty()) {
    return labels;
  }
  const auto read = json::parse_in_place(object.labels_json());
  if (!read) {
    return labels;
  }
  for (const json::Member& member : read->root.members()) {
    if (member.value.is_string()) {
      labels.emplace(member.key, member.value.as_string());
    }
  }
  return labels;
}

runtime::MapFunction who_may_adopt(const runtime::Store& store) {
  return [&store](const kube::Object& object, std::vector<model::ObjectKey>& keys) {
    if (store.size() == 0 || object.labels_json().empty() || !controller_uid(object).empty()) {
      return;
    }
    const model::StringMap labels = labels_of(object);
    for (const runtime::ObjectRef& candidate : store.list(object.ns())) {
      if (selects(*candidate, labels)) {
        keys.push_back(candidate->key());
      }
    }
  };
}

}  // namespace codeflare::controllers::apps
