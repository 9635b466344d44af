#include "apiserver/crd/definition_strategy.h"

#include <algorithm>
#include <cctype>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

json::Value& object_at(json::Arena& arena, json::Value& parent, std::string_view key) {
  json::Value* child = parent.find(key);
  return child != nullptr && child->is_object() ? *child
                                                : parent.set(arena, key, json::Value::object());
}

std::string_view name_of(const json::Value& definition) {
  const json::Value* metadata = definition.find("metadata");
  return metadata == nullptr ? std::string_view() : metadata->string_or_empty("name");
}

std::string_view group_of(const json::Value& definition) {
  const json::Value* spec = definition.find("spec");
  return spec == nullptr ? std::string_view() : spec->string_or_empty("group");
}

class DefinitionStrategy final : public Strategy {
 public:
  explicit DefinitionStrategy(std::shared_ptr<DefinitionWorld> world) : world_(std::move(world)) {}

  void set_defaults(WriteContext& context, json::Value& definition) const override {
    json::Arena& arena = context.arena;
    json::Value* spec = definition.find("spec");
    if (spec == nullptr || !spec->is_object()) {
      return;
    }
    json::Value& names = object_at(arena, *spec, "names");
    std::string kind(names.string_or_empty("kind"));
    if (names.string_or_empty("singular").empty() && !kind.empty()) {
      std::string lower(kind);
      std::ranges::transform(lower, lower.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      names.set_static(arena, "singular", json::Value::string(arena, lower));
    }
    if (names.string_or_empty("listKind").empty() && !kind.empty()) {
      names.set_static(arena, "listKind", json::Value::string(arena, kind + "List"));
    }
    json::Value& conversion = object_at(arena, *spec, "conversion");
    if (conversion.string_or_empty("strategy").empty()) {
      conversion.set_static(arena, "strategy", json::Value::string_view_of("None"));
    }
  }

  void prepare_create(WriteContext& context, json::Value& definition) const override {
    definition.set_static(context.arena, "status", json::Value::object());
    settle(context, definition);
  }

  void prepare_update(WriteContext& context, json::Value& definition,
                      const json::Value& /*old*/) const override {
    if (context.subresource.empty()) {
      settle(context, definition);
    }
  }

  void validate(WriteContext& context, const json::Value& definition,
                FieldErrors& errors) const override {
    // Once for both: an update is validated with what it replaces.
    if (definition.get({"metadata", "resourceVersion"}) == nullptr) {
      world_->validate(definition, nullptr, context.warnings, errors);
    }
  }

  void validate_update(WriteContext& context, const json::Value& definition, const json::Value& old,
                       FieldErrors& errors) const override {
    world_->validate(definition, &old, context.warnings, errors);
  }

  // Also without instances: one may be on its way to the disk, and one that is on its way to the
  // server must be rejected before the definition is gone.
  void begin_delete(WriteContext& context, json::Value& definition) const override {
    json::Arena& arena = context.arena;
    json::Value& metadata = object_at(arena, definition, "metadata");
    json::Value* finalizers = metadata.find("finalizers");
    if (finalizers == nullptr || !finalizers->is_array()) {
      finalizers = &metadata.set_static(arena, "finalizers", json::Value::array());
    }
    if (std::ranges::none_of(finalizers->items(), is_cleanup)) {
      finalizers->push_back(arena, json::Value::string_view_of(kCleanup));
    }
    set_condition(arena, definition,
                  {"Terminating", true, "InstanceDeletionInProgress",
                   "CustomResource deletion is in progress"},
                  context.now);
  }

  bool may_go(const json::Value& definition) const override {
    return !world_->has_instances(definition);
  }
  bool allow_unconditional_update() const override { return false; }
  bool pure() const override { return false; }

  static bool is_cleanup(const json::Value& finalizer) {
    return finalizer.is_string() && finalizer.as_string() == kCleanup;
  }

 private:
  void settle(WriteContext& context, json::Value& definition) const {
    settle_status(context.arena, definition,
                  world_->claimed(group_of(definition), name_of(definition)), context.now);
    world_->reserve(definition);
  }

  std::shared_ptr<DefinitionWorld> world_;
};

}  // namespace

std::shared_ptr<const Strategy> make_definition_strategy(std::shared_ptr<DefinitionWorld> world) {
  return std::make_shared<DefinitionStrategy>(std::move(world));
}

void remove_cleanup_finalizer(json::Value& definition) {
  json::Value* metadata = definition.find("metadata");
  json::Value* finalizers = metadata == nullptr ? nullptr : metadata->find("finalizers");
  if (finalizers == nullptr) {
    return;
  }
  for (std::size_t i = finalizers->size(); i-- > 0;) {
    if (DefinitionStrategy::is_cleanup(finalizers->items()[i])) {
      finalizers->erase_at(i);
    }
  }
  if (finalizers->size() == 0) {
    metadata->erase("finalizers");
  }
}

}  // namespace codeflare::apiserver
