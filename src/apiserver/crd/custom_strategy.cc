#include "apiserver/crd/custom_strategy.h"

#include <algorithm>
#include <limits>

namespace codeflare::apiserver {
namespace {

const json::Value* value_at(const json::Value& object, std::string_view path) {
  const json::Value* at = &object;
  while (at != nullptr && path.starts_with('.')) {
    path.remove_prefix(1);
    std::size_t end = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, end));
    path.remove_prefix(end);
  }
  return at;
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
      std::string warning = "metadata.finalizers: " + quote(name) + ": " + std::string(what);
      if (std::ranges::find(*context.warnings, warning) == context.warnings->end()) {
        context.warnings->push_back(std::move(warning));
      }
    }
  }

  static void check_replicas(const json::Value& object, const std::string& path,
                             FieldErrors& errors) {
    const json::Value* replicas = value_at(object, path);
    if (replicas == nullptr || path.empty()) {
      return;
    }
    std::optional<std::int64_t> count = replicas->is_number() ? replicas->to_int64() : std::nullopt;
    if (!count) {
      errors.invalid(path, show(*replicas), "must be an integer");
    } else if (*count < 0) {
      errors.invalid(path, show(*replicas), "should be a non-negative integer");
    } else if (*count > std::numeric_limits<std::int32_t>::max()) {
      errors.invalid(path, show(*replicas), "should be less than or equal to 2147483647");
    }
  }

  void check_selector(const json::Value& object, FieldErrors& errors) const {
    const json::Value* selector = scale_->label_selector_path.empty()
                                      ? nullptr
                                      : value_at(object, scale_->label_selector_path);
    if (selector != nullptr && !selector->is_string()) {
      errors.invalid(scale_->label_selector_path, show(*selector), "must be a string");
    }
  }

  std::optional<ScaleSubresource> scale_;
};

}  // namespace

std::shared_ptr<const Strategy> make_custom_strategy(std::optional<ScaleSubresource> scale) {
  return std::make_shared<CustomStrategy>(std::move(scale));
}

}  // namespace codeflare::apiserver
