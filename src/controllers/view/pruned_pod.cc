#include "controllers/view/pruned_pod.h"

#include "json/value.h"
#include "json/write.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace codeflare::controllers::view {

namespace {

using Keys = std::initializer_list<std::string_view>;

void keep(json::Value* object, Keys keys) {
  if (object != nullptr) {
    object->erase_if([&](const json::Member& member) {
      return std::ranges::find(keys, member.key) == keys.end();
    });
  }
}

void prune(json::Value& pod) {
  keep(&pod, {"metadata", "spec", "status"});
  keep(pod.find("metadata"), {"name", "namespace", "uid", "resourceVersion", "creationTimestamp",
                              "deletionTimestamp", "finalizers", "labels", "ownerReferences"});
  json::Value* spec = pod.find("spec");
  keep(spec, {"nodeName", "restartPolicy", "containers", "initContainers"});
  for (const std::string_view list : {"containers", "initContainers"}) {
    json::Value* containers = spec == nullptr ? nullptr : spec->find(list);
    if (containers == nullptr) {
      continue;
    }
    for (json::Value& container : containers->items()) {
      keep(&container, {"name", "image", "resources"});
    }
  }
}

}  // namespace

std::string pruned_list(const kube::ObjectList& pods) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("kind", "PodList").member("apiVersion", "v1");
  w.key("metadata").begin_object().member("resourceVersion", pods.resource_version).end_object();
  w.key("items").begin_array();
  for (const kube::ObjectRef& object : pods.items) {
    if (Result<json::Document> document = object->parse()) {
      prune(document->root);
      w.value(document->root);
    }
  }
  w.end_array().end_object();
  return text;
}

}  // namespace codeflare::controllers::view
