#include "runtime/map_function.h"

#include "json/parse.h"

#include <string_view>
#include <utility>

namespace codeflare::runtime {

namespace {

std::string_view group_of(std::string_view api_version) {
  auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

MapFunction to_owner(const model::ResourceType& owner, bool controller_only) {
  return [owner, controller_only](const kube::Object& object, std::vector<model::ObjectKey>& keys) {
    // Most are owned by somebody of another kind; servers write the letters of a kind as they are.
    if (!object.owner_references_json().contains(owner.kind)) {
      return;
    }
    auto references = json::parse_in_place(object.owner_references_json());
    if (!references) {
      return;
    }
    for (const json::Value& reference : references->root.items()) {
      const json::Value* controller = reference.find("controller");
      const bool controls =
          controller != nullptr && controller->is_boolean() && controller->as_bool();
      if ((controls || !controller_only) && reference.string_or_empty("kind") == owner.kind &&
          group_of(reference.string_or_empty("apiVersion")) == owner.group) {
        keys.push_back({owner.namespaced ? std::string(object.ns()) : std::string(),
                        std::string(reference.string_or_empty("name"))});
      }
    }
  };
}

}  // namespace

MapFunction to_self() {
  return [](const kube::Object& object, std::vector<model::ObjectKey>& keys) {
    keys.push_back(object.key());
  };
}

MapFunction to_controller(const model::ResourceType& owner) {
  return to_owner(owner, true);
}

MapFunction to_owners(const model::ResourceType& owner) {
  return to_owner(owner, false);
}

MapFunction to_label(std::string label) {
  return
      [label = std::move(label)](const kube::Object& object, std::vector<model::ObjectKey>& keys) {
        if (object.labels_json().empty()) {
          return;
        }
        auto labels = json::parse_in_place(object.labels_json());
        if (!labels) {
          return;
        }
        std::string_view name = labels->root.string_or_empty(label);
        if (!name.empty()) {
          keys.push_back({std::string(object.ns()), std::string(name)});
        }
      };
}

}  // namespace codeflare::runtime
