#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "json/write.h"
#include "model/validation.h"

#include <charconv>
#include <optional>
#include <string>

namespace codeflare::apiserver {

namespace {

void default_template(json::Arena& arena, json::Value& spec) {
  json::Value& pod_template = make_object(arena, spec, "template");
  make_object(arena, pod_template, "metadata");
  default_pod_spec(arena, make_object(arena, pod_template, "spec"));
}

// The number of "25%"; nothing when the text is not a percentage.
std::optional<std::int64_t> percentage(std::string_view text) {
  std::int64_t number = 0;
  if (!text.ends_with('%')) {
    return std::nullopt;
  }
  const char* end = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::int64_t amount_of(const json::Value* value) {
  if (value == nullptr) {
    return 0;
  }
  return value->is_string() ? percentage(value->as_string()).value_or(0)
                            : value->to_int64().value_or(0);
}

void validate_int_or_percent(const json::Value& parent, std::string_view key, std::string_view path,
                             FieldErrors& errors) {
  const json::Value* value = parent.find(key);
  if (value == nullptr || value->is_null()) {
    return;
  }
  if (value->is_string()) {
    const std::optional<std::int64_t> percent = percentage(value->as_string());
    if (!percent) {
      errors.invalid_text(child(path, key), value->as_string(),
                          "a valid percent string must be a numeric string followed by an ending "
                          "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
    }
  } else {
    validate_nonnegative(parent, key, path, errors);
  }
}

void validate_at_most_all(const json::Value& parent, std::string_view key, std::string_view path,
                          FieldErrors& errors) {
  const json::Value* value = parent.find(key);
  if (value != nullptr && value->is_string() && percentage(value->as_string()).value_or(0) > 100) {
    errors.invalid_text(child(path, key), value->as_string(), "must not be greater than 100%");
  }
}

// The selector is there, says something, and selects the template's pods.
void validate_selector(const json::Value& spec, std::string_view what, FieldErrors& errors) {
  const json::Value* selector = spec.find("selector");
  if (selector == nullptr || !selector->is_object()) {
    errors.required("spec.selector", "");
    return;
  }
  const bool usable = validate_label_selector(*selector, "spec.selector", errors);
  if (object_at(*selector, "matchLabels").size() == 0 &&
      items_at(*selector, "matchExpressions").empty()) {
    errors.invalid("spec.selector", show(*selector),
                   "empty selector is invalid for " + std::string(what));
    return;
  }
  const json::Value& labels = object_at(spec, {"template", "metadata", "labels"});
  if (usable && !selector_matches(*selector, labels)) {
    errors.invalid("spec.template.metadata.labels", show(labels),
                   "`selector` does not match template `labels`");
  }
}

void validate_always_restarted(const json::Value& spec, std::string_view kind,
                               FieldErrors& errors) {
  const json::Value& pod = object_at(spec, {"template", "spec"});
  validate_pod_template(object_at(spec, "template"), "spec.template", errors);
  if (const std::string_view policy = text_at(pod, "restartPolicy"); policy != "Always") {
    const std::string shown = quote(policy);
    errors.not_supported("spec.template.spec.restartPolicy", shown, {"Always"});
  }
  if (!absent(pod, "activeDeadlineSeconds")) {
    errors.forbidden("spec.template.spec.activeDeadlineSeconds",
                     "activeDeadlineSeconds in " + std::string(kind) + " is not Supported");
  }
}

void validate_immutable(const json::Value& spec, const json::Value& old, std::string_view key,
                        FieldErrors& errors) {
  if (!same(spec.find(key), old.find(key))) {
    const json::Value* value = spec.find(key);
    errors.invalid(child("spec", key), value == nullptr ? "null" : show(*value),
                   "field is immutable");
  }
}

class DeploymentStrategy final : public Strategy {
 public:
  bool annotations_count() const override { return true; }

  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    default_integer(arena, spec, "replicas", 1);
    default_template(arena, spec);
    json::Value& strategy = make_object(arena, spec, "strategy");
    default_text(arena, strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
      json::Value& rolling = make_object(arena, strategy, "rollingUpdate");
      for (std::string_view key : {"maxUnavailable", "maxSurge"}) {
        if (absent(rolling, key)) {
          rolling.set(arena, key, json::Value::string_view_of("25%"));
        }
      }
    }
    default_integer(arena, spec, "revisionHistoryLimit", 10);
    default_integer(arena, spec, "progressDeadlineSeconds", 600);
  }

  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    validate_nonnegative(spec, "replicas", "spec", errors);
    validate_selector(spec, "deployment", errors);
    validate_always_restarted(spec, "ReplicaSet", errors);
    validate_strategy(object_at(spec, "strategy"), errors);
    for (std::string_view key :
         {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
      validate_nonnegative(spec, key, "spec", errors);
    }
    const std::optional<std::int64_t> deadline = integer_at(spec, "progressDeadlineSeconds");
    if (deadline && *deadline <= integer_at(spec, "minReadySeconds").value_or(0)) {
      errors.invalid("spec.progressDeadlineSeconds", std::to_string(*deadline),
                     "must be greater than minReadySeconds");
    }
  }

  void validate_update(WriteContext& context, const json::Value& object, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource.empty()) {
      validate_immutable(object_at(object, "spec"), object_at(old, "spec"), "selector", errors);
    }
  }

 private:
  static void validate_strategy(const json::Value& strategy, FieldErrors& errors) {
    const std::string_view type = text_at(strategy, "type");
    if (type == "Recreate") {
      if (!absent(strategy, "rollingUpdate")) {
        errors.forbidden("spec.strategy.rollingUpdate",
                         "may not be specified when strategy `type` is 'Recreate'");
      }
      return;
    }
    if (type != "RollingUpdate") {
      errors.not_supported("spec.strategy", show(strategy), {"Recreate", "RollingUpdate"});
      return;
    }
    const json::Value& rolling = object_at(strategy, "rollingUpdate");
    const std::string_view path = "spec.strategy.rollingUpdate";
    validate_int_or_percent(rolling, "maxUnavailable", path, errors);
    validate_int_or_percent(rolling, "maxSurge", path, errors);
    const json::Value* unavailable = rolling.find("maxUnavailable");
    if (amount_of(unavailable) == 0 && amount_of(rolling.find("maxSurge")) == 0) {
      errors.invalid(child(path, "maxUnavailable"),
                     unavailable == nullptr ? "0" : show(*unavailable),
                     "may not be 0 when `maxSurge` is 0");
    }
    validate_at_most_all(rolling, "maxUnavailable", path, errors);
  }
};

class ReplicaSetStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Value& spec = make_object(context.arena, object, "spec");
    default_integer(context.arena, spec, "replicas", 1);
    default_template(context.arena, spec);
  }
  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    validate_nonnegative(spec, "replicas", "spec", errors);
    validate_nonnegative(spec, "minReadySeconds", "spec", errors);
    validate_selector(spec, "replicaset", errors);
    validate_always_restarted(spec, "ReplicaSet", errors);
  }
  void validate_update(WriteContext& context, const json::Value& object, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource.empty()) {
      validate_immutable(object_at(object, "spec"), object_at(old, "spec"), "selector", errors);
    }
  }
};

class StatefulSetStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    default_text(arena, spec, "podManagementPolicy", "OrderedReady");
    json::Value& strategy = make_object(arena, spec, "updateStrategy");
    if (text_at(strategy, "type").empty()) {
      default_text(arena, strategy, "type", "RollingUpdate");
      make_object(arena, strategy, "rollingUpdate");
    }
    if (json::Value* rolling = strategy.find("rollingUpdate");
        rolling != nullptr && rolling->is_object() &&
        text_at(strategy, "type") == "RollingUpdate") {
      default_integer(arena, *rolling, "partition", 0);
    }
    json::Value& retention = make_object(arena, spec, "persistentVolumeClaimRetentionPolicy");
    default_text(arena, retention, "whenDeleted", "Retain");
    default_text(arena, retention, "whenScaled", "Retain");
    default_integer(arena, spec, "replicas", 1);
    default_integer(arena, spec, "revisionHistoryLimit", 10);
    default_template(arena, spec);
    for (json::Value& claim : items_at(spec, "volumeClaimTemplates")) {
      if (claim.is_object()) {
        default_text(arena, claim, "apiVersion", "v1");
        default_text(arena, claim, "kind", "PersistentVolumeClaim");
        default_text(arena, make_object(arena, claim, "spec"), "volumeMode", "Filesystem");
        default_text(arena, make_object(arena, claim, "status"), "phase", "Pending");
      }
    }
  }

  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    const std::string_view policy = text_at(spec, "podManagementPolicy");
    if (policy != "OrderedReady" && policy != "Parallel") {
      errors.invalid_text("spec.podManagementPolicy", policy,
                          "must be 'OrderedReady' or 'Parallel'");
    }
    const json::Value& strategy = object_at(spec, "updateStrategy");
    const std::string_view type = text_at(strategy, "type");
    if (type == "OnDelete" && !absent(strategy, "rollingUpdate")) {
      errors.invalid("spec.updateStrategy.rollingUpdate", show(*strategy.find("rollingUpdate")),
                     "only allowed for updateStrategy 'RollingUpdate'");
    } else if (type != "OnDelete" && type != "RollingUpdate") {
      errors.invalid("spec.updateStrategy", show(strategy),
                     "must be 'RollingUpdate' or 'OnDelete'");
    }
    validate_nonnegative(object_at(strategy, "rollingUpdate"), "partition",
                         "spec.updateStrategy.rollingUpdate", errors);
    validate_nonnegative(spec, "replicas", "spec", errors);
    validate_nonnegative(spec, "minReadySeconds", "spec", errors);
    const json::Value& retention = object_at(spec, "persistentVolumeClaimRetentionPolicy");
    for (std::string_view when : {"whenDeleted", "whenScaled"}) {
      const std::string_view what = text_at(retention, when);
      if (what != "Retain" && what != "Delete") {
        errors.not_supported(child("spec.persistentVolumeClaimRetentionPolicy", when), quote(what),
                             {"Retain", "Delete"});
      }
    }
    if (const std::string_view service = text_at(spec, "serviceName"); !service.empty()) {
      for (const std::string& complaint : model::check_dns1123_label(service)) {
        errors.invalid_text("spec.serviceName", service, complaint);
      }
    }
    validate_selector(spec, "statefulset", errors);
    validate_always_restarted(with_claims(context.arena, spec), "StatefulSet", errors);
  }

  void validate_update(WriteContext& context, const json::Value& object, const json::Value& old,
                       FieldErrors& errors) const override {
    if (!context.subresource.empty()) {
      return;
    }
    json::Value spec = object_at(object, "spec").clone(context.arena);
    const json::Value& old_spec = object_at(old, "spec");
    for (std::string_view key :
         {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
      copy_member(context.arena, spec, old_spec, key);
    }
    if (!same(&spec, &old_spec)) {
      errors.forbidden("spec",
                       "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                       "'template', 'updateStrategy', 'revisionHistoryLimit', "
                       "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                       "forbidden");
    }
  }

 private:
  // Pods may mount what the claim templates will provide.
  static json::Value with_claims(json::Arena& arena, const json::Value& spec) {
    if (items_at(spec, "volumeClaimTemplates").empty()) {
      return spec;
    }
    json::Value copy = spec.clone(arena);
    json::Value& pod = make_object(arena, make_object(arena, copy, "template"), "spec");
    json::Value volumes = json::Value::array();
    for (const json::Value& claim : items_at(spec, "volumeClaimTemplates")) {
      const std::string_view name = text_at(object_at(claim, "metadata"), "name");
      json::Value source = json::Value::object();
      source.set_static(arena, "claimName", json::Value::string(arena, name));
      json::Value volume = json::Value::object();
      volume.set_static(arena, "name", json::Value::string(arena, name));
      volume.set_static(arena, "persistentVolumeClaim", source);
      volumes.push_back(arena, volume);
    }
    for (const json::Value& volume : items_at(std::as_const(pod), "volumes")) {
      bool replaced = false;
      for (const json::Value& claim : volumes.items()) {
        replaced = replaced || text_at(claim, "name") == text_at(volume, "name");
      }
      if (!replaced) {
        volumes.push_back(arena, volume);
      }
    }
    pod.set_static(arena, "volumes", volumes);
    return copy;
  }
};

constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

class DaemonSetStrategy final : public Strategy {
 public:
  void prepare_create(WriteContext& context, json::Value& object) const override {
    set_template_generation(context.arena, object, 1);
  }
  void prepare_update(WriteContext& context, json::Value& object,
                      const json::Value& old) const override {
    const std::string_view text =
        text_at(object_at(old, {"metadata", "annotations"}), kTemplateGeneration);
    std::int64_t number = 1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    const bool changed =
        context.subresource.empty() &&
        !same(object_at(object, "spec").find("template"), object_at(old, "spec").find("template"));
    set_template_generation(context.arena, object, number + (changed ? 1 : 0));
  }
  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    json::Value& strategy = make_object(arena, spec, "updateStrategy");
    default_text(arena, strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
      json::Value& rolling = make_object(arena, strategy, "rollingUpdate");
      default_integer(arena, rolling, "maxUnavailable", 1);
      default_integer(arena, rolling, "maxSurge", 0);
    }
    default_integer(arena, spec, "revisionHistoryLimit", 10);
    default_template(arena, spec);
  }
  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    validate_nonnegative(spec, "minReadySeconds", "spec", errors);
    validate_selector(spec, "daemonset", errors);
    validate_always_restarted(spec, "DaemonSet", errors);
  }
  void validate_update(WriteContext& context, const json::Value& object, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource.empty()) {
      validate_immutable(object_at(object, "spec"), object_at(old, "spec"), "selector", errors);
    }
  }

 private:
  static void set_template_generation(json::Arena& arena, json::Value& object,
                                      std::int64_t number) {
    json::Value& annotations =
        make_object(arena, make_object(arena, object, "metadata"), "annotations");
    annotations.set(arena, kTemplateGeneration, json::Value::string(arena, std::to_string(number)));
  }
};

class ReplicationControllerStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    default_integer(arena, spec, "replicas", 1);
    default_template(arena, spec);
    const json::Value& labels = object_at(spec, {"template", "metadata", "labels"});
    if (labels.size() > 0 && object_at(spec, "selector").size() == 0) {
      spec.set(arena, "selector", labels.clone(arena));
    }
    json::Value& metadata = make_object(arena, object, "metadata");
    if (labels.size() > 0 && object_at(metadata, "labels").size() == 0) {
      metadata.set(arena, "labels", labels.clone(arena));
    }
  }
  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(object, "spec");
    validate_nonnegative(spec, "replicas", "spec", errors);
    validate_nonnegative(spec, "minReadySeconds", "spec", errors);
    if (object_at(spec, "selector").size() == 0) {
      errors.required("spec.selector", "");
    }
    validate_always_restarted(spec, "ReplicationController", errors);
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_deployment_strategy() {
  return std::make_shared<DeploymentStrategy>();
}
std::shared_ptr<const Strategy> make_replica_set_strategy() {
  return std::make_shared<ReplicaSetStrategy>();
}
std::shared_ptr<const Strategy> make_stateful_set_strategy() {
  return std::make_shared<StatefulSetStrategy>();
}
std::shared_ptr<const Strategy> make_daemon_set_strategy() {
  return std::make_shared<DaemonSetStrategy>();
}
std::shared_ptr<const Strategy> make_replication_controller_strategy() {
  return std::make_shared<ReplicationControllerStrategy>();
}

}  // namespace codeflare::apiserver
