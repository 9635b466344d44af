#include "apiserver/crd/custom_strategy.h"

#include <limits>

namespace codeflare::apiserver {
namespace {

// The target of a path, and the value in the way when that is not an object.
struct Reached {
  const json::Value* value = nullptr;
  bool blocked = false;
};

Reached value_at(const json::Value& object, std::string_view path) {
  const json::Value* at = &object;
  while (path.starts_with('.')) {
    if (!at->is_object()) {
      return {at, true};
    }
    path.remove_prefix(1);
    std::size_t end = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, end));
    path.remove_prefix(end);
    if (at == nullptr) {
      return {};
    }
  }
  return {at, false};
}

std::string_view go_type(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return "<nil>";
    case json::Kind::boolean:
      return "bool";
    case json::Kind::number:
      return value.number().find_first_of(".eE") == std::string_view::npos ? "int64" : "float64";
    case json::Kind::string:
      return "string";
    case json::Kind::array:
      return "[]interface {}";
    case json::Kind::object:
      return "map[string]interface {}";
  }
  return {};
}

std::string accessor_error(const std::string& path, const json::Value& value,
                           std::string_view wanted) {
  std::string text = value.is_string() ? std::string(value.as_string()) : show(value);
  return path + " accessor error: " + text + " is of the type " + std::string(go_type(value)) +
         ", expected " + std::string(wanted);
}

class CustomStrategy final : public Strategy {
 public:
  explicit CustomStrategy(std::optional<ScaleSubresource> scale) : scale_(std::move(scale)) {}

  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    warn_about_finalizers(context, object);
    if (scale_) {
      check_replicas(object, scale_->spec_replicas_path, errors);
      check_replicas(object, scale_->status_replicas_path, errors);
      check_selector(object, errors);
    }
  }
  bool allow_unconditional_update() const override { return false; }

 private:
  static void warn_about_finalizers(WriteContext& context, const json::Value& object) {
    const json::Value* finalizers = object.get({"metadata", "finalizers"});
    if (finalizers == nullptr || context.warnings == nullptr) {
      return;
    }
    for (const json::Value& finalizer : finalizers->items()) {
      std::string_view name = finalizer.is_string() ? finalizer.as_string() : std::string_view();
      bool known = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
      if (known || name.find('/') != std::string_view::npos) {
        continue;
      }
      std::string_view what = name.find('.') != std::string_view::npos
                                  ? "prefer a domain-qualified finalizer name including a path (/) "
                                    "to avoid accidental conflicts with other finalizer writers"
                                  : "prefer a domain-qualified finalizer name to avoid accidental "
                                    "conflicts with other finalizer writers";
      context.warnings->push_back("metadata.finalizers: " + quote(name) + ": " + std::string(what));
    }
  }

  static void check_replicas(const json::Value& object, const std::string& path,
                             FieldErrors& errors) {
    Reached reached = value_at(object, path);
    if (reached.value == nullptr) {
      return;
    }
    const json::Value& replicas = *reached.value;
    std::optional<std::int64_t> count =
        !reached.blocked && go_type(replicas) == "int64" ? replicas.to_int64() : std::nullopt;
    if (!count) {
      errors.invalid(
          path, "0",
          accessor_error(path, replicas, reached.blocked ? "map[string]interface{}" : "int64"));
    } else if (*count < 0) {
      errors.invalid(path, show(replicas), "should be a non-negative integer");
    } else if (*count > std::numeric_limits<std::int32_t>::max()) {
      errors.invalid(path, show(replicas), "should be less than or equal to 2147483647");
    }
  }

  void check_selector(const json::Value& object, FieldErrors& errors) const {
    const std::string& path = scale_->label_selector_path;
    Reached reached = path.empty() ? Reached{} : value_at(object, path);
    if (reached.value != nullptr && (reached.blocked || !reached.value->is_string())) {
      errors.invalid_text(path, "",
                          accessor_error(path, *reached.value,
                                         reached.blocked ? "map[string]interface{}" : "string"));
    }
  }

  std::optional<ScaleSubresource> scale_;
};

}  // namespace

std::shared_ptr<const Strategy> make_custom_strategy(std::optional<ScaleSubresource> scale) {
  return std::make_shared<CustomStrategy>(std::move(scale));
}

}  // namespace codeflare::apiserver
