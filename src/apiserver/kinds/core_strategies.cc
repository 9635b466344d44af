#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "base/base64.h"
#include "json/member_index.h"
#include "json/parse.h"
#include "model/quantity.h"
#include "model/validation.h"

#include <algorithm>
#include <set>
#include <string>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kDataBytesMax = 1u << 20;  // of a Secret or ConfigMap

class NamespaceStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }

  model::Complaints check_name(std::string_view name, bool prefix) const override {
    const bool dash = prefix && name.ends_with('-');
    return model::check_dns1123_label(dash ? std::string(name.substr(0, name.size() - 1)) + "a"
                                           : std::string(name));
  }

  void set_defaults(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& metadata = make_object(arena, object, "metadata");
    if (const std::string_view name = text_at(metadata, "name"); !name.empty()) {
      make_object(arena, metadata, "labels")
          .set(arena, "kubernetes.io/metadata.name", json::Value::string(arena, name));
    }
    make_object(arena, object, "spec");
    default_text(arena, make_object(arena, object, "status"), "phase", "Active");
  }

  void name_generated(WriteContext& context, json::Value& object,
                      std::string_view /*previous*/) const override {
    set_defaults(context, object);
  }

  void prepare_create(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    const auto finalizers = items_at(std::as_const(spec), "finalizers");
    const bool held = std::ranges::any_of(finalizers, [](const json::Value& finalizer) {
      return finalizer.is_string() && finalizer.as_string() == "kubernetes";
    });
    if (!held) {
      json::Value list = json::Value::array();
      for (const json::Value& finalizer : finalizers) {
        list.push_back(arena, finalizer);
      }
      list.push_back(arena, json::Value::string_view_of("kubernetes"));
      spec.set_static(arena, "finalizers", list);
    }
    json::Value status = json::Value::object();
    status.set_static(arena, "phase", json::Value::string_view_of("Active"));
    object.set_static(arena, "status", status);
  }

  void prepare_update(WriteContext& context, json::Value& object,
                      const json::Value& old) const override {
    if (context.subresource.empty()) {
      // Only /finalize takes finalizers away.
      make_object(context.arena, object, "spec");
      copy_member(context.arena, *object.find("spec"), object_at(old, "spec"), "finalizers");
    }
  }

  void begin_delete(WriteContext& context, json::Value& object) const override {
    make_object(context.arena, object, "status")
        .set_static(context.arena, "phase", json::Value::string_view_of("Terminating"));
  }

  bool may_go(const json::Value& object) const override {
    return items_at(object_at(object, "spec"), "finalizers").empty();
  }
};

// Pods and devices can't be split. A name of somebody's domain is a device; those of Kubernetes'
// own domain are not.
bool comes_whole(std::string_view resource) {
  return resource.contains('/')
             ? !resource.contains("kubernetes.io/") && !resource.starts_with("requests.")
             : resource == "pods";
}

class NodeStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }
  bool keeps_status_at_creation() const override { return true; }

  void set_defaults(WriteContext& context, json::Value& node) const override {
    json::Value* status = node.find("status");
    if (status != nullptr && status->is_object() && absent(*status, "allocatable") &&
        !absent(*status, "capacity")) {
      status->set(context.arena, "allocatable", status->find("capacity")->clone(context.arena));
    }
    if (json::Value* spec = node.find("spec"); spec != nullptr && spec->is_object()) {
      // Two forms of one field; the older counts where they differ.
      const auto list = items_at(std::as_const(*spec), "podCIDRs");
      const std::string_view one = text_at(*spec, "podCIDR");
      const bool differ = list.empty() || !list[0].is_string() || list[0].as_string() != one;
      if (!one.empty() && differ) {
        json::Value ranges = json::Value::array();
        ranges.push_back(context.arena, json::Value::string(context.arena, one));
        spec->set_static(context.arena, "podCIDRs", ranges);
      } else if (one.empty() && !list.empty()) {
        spec->set_static(context.arena, "podCIDR", list[0]);
      }
    }
  }

  void validate(WriteContext&, const json::Value& node, FieldErrors& errors) const override {
    std::set<std::pair<std::string, std::string>> seen;
    std::size_t i = 0;
    for (const json::Value& taint : items_at(object_at(node, "spec"), "taints")) {
      const std::string at = at_index("metadata.taints", i++);
      const std::string_view key = text_at(taint, "key");
      for (const std::string& complaint : model::check_qualified_name(key)) {
        errors.invalid_text(child(at, "key"), key, complaint);
      }
      for (const std::string& complaint : model::check_label_value(text_at(taint, "value"))) {
        errors.invalid_text(child(at, "value"), text_at(taint, "value"), complaint);
      }
      const std::string_view effect = text_at(taint, "effect");
      if (effect.empty()) {
        errors.required(child(at, "effect"), "");
      } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
        errors.not_supported(child(at, "effect"), quote(effect),
                             {"NoSchedule", "PreferNoSchedule", "NoExecute"});
      }
      if (!seen.emplace(key, effect).second) {
        errors.duplicate(at, show(taint) + ": taints must be unique by key and effect pair");
      }
    }
    for (std::string_view list : {"capacity", "allocatable"}) {
      for (const json::Member& member : object_at(node, {"status", list}).members()) {
        const std::string_view text = member.value.is_string()   ? member.value.as_string()
                                      : member.value.is_number() ? member.value.number()
                                                                 : "0";
        const Result<model::Quantity> amount = model::Quantity::parse(text);
        const std::string at = "status." + std::string(list) + "." + std::string(member.key);
        if (amount && amount->sign() < 0) {
          errors.invalid_text(at, amount->to_string(), "must be greater than or equal to 0");
        }
        if (amount && comes_whole(member.key) && !amount->exact_value()) {
          errors.invalid_text(at, amount->to_string(), "must be an integer");
        }
      }
    }
  }

  void validate_update(WriteContext&, const json::Value& node, const json::Value& old,
                       FieldErrors& errors) const override {
    const json::Value& spec = object_at(node, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    if (!items_at(old_spec, "podCIDRs").empty() &&
        !same(spec.find("podCIDRs"), old_spec.find("podCIDRs"))) {
      errors.forbidden("spec.podCIDRs",
                       "node updates may not change podCIDR except from \"\" to valid");
    }
    const std::string_view provider = text_at(old_spec, "providerID");
    if (!provider.empty() && text_at(spec, "providerID") != provider) {
      errors.forbidden("spec.providerID",
                       "node updates may not change providerID except from \"\" to valid");
    }
  }
};

void validate_immutable_data(const json::Value& object, const json::Value& old,
                             std::initializer_list<std::string_view> fields, FieldErrors& errors) {
  if (!true_at(old, "immutable")) {
    return;
  }
  if (!true_at(object, "immutable")) {
    errors.forbidden("immutable", "field is immutable when `immutable` is set");
  }
  for (std::string_view field : fields) {
    if (!same(object.find(field), old.find(field))) {
      errors.forbidden(std::string(field), "field is immutable when `immutable` is set");
    }
  }
}

std::size_t validate_keys(const json::Value& object, std::string_view field, FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const json::Member& member : object_at(object, field).members()) {
    for (const std::string& complaint : model::check_config_map_key(member.key)) {
      errors.invalid_text(at_key(field, member.key), member.key, complaint);
    }
    bytes += member.value.is_string() ? member.value.as_string().size() : 0;
  }
  return bytes;
}

class SecretStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }

  void set_defaults(WriteContext& context, json::Value& secret) const override {
    default_text(context.arena, secret, "type", "Opaque");
    // stringData is a way of writing only: it becomes data.
    json::Value* plain = secret.find("stringData");
    if (plain == nullptr) {
      return;
    }
    const json::Value texts = *plain;
    secret.erase("stringData");
    if (texts.size() == 0) {
      return;
    }
    json::Value& data = make_object(context.arena, secret, "data");
    json::MemberIndex replaced(texts.members());
    data.erase_if([&](const json::Member& member) {
      const json::Value* text = replaced.find(member.key);
      return text != nullptr && text->is_string();
    });
    for (const json::Member& member : texts.members()) {
      if (member.value.is_string()) {
        data.append(context.arena, member.key,
                    json::Value::string(context.arena, to_base64(member.value.as_string())));
      }
    }
  }

  void validate(WriteContext&, const json::Value& secret, FieldErrors& errors) const override {
    // Four characters hold three bytes.
    if (validate_keys(secret, "data", errors) / 4 * 3 > kDataBytesMax) {
      errors.too_long("data", kDataBytesMax);
    }
    const json::Value& data = object_at(secret, "data");
    const std::string_view type = text_at(secret, "type");
    const auto need = [&](std::string_view key) {
      if (data.find(key) == nullptr) {
        errors.required(at_key("data", key), "");
      }
    };
    if (type == "kubernetes.io/service-account-token") {
      constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
      if (text_at(object_at(secret, {"metadata", "annotations"}), kAccount).empty()) {
        errors.required(at_key("metadata.annotations", kAccount), "");
      }
    } else if (type == "kubernetes.io/dockercfg") {
      need_json(data, ".dockercfg", errors);
    } else if (type == "kubernetes.io/dockerconfigjson") {
      need_json(data, ".dockerconfigjson", errors);
    } else if (type == "kubernetes.io/basic-auth") {
      if (data.find("username") == nullptr && data.find("password") == nullptr) {
        need("username");
        need("password");
      }
    } else if (type == "kubernetes.io/ssh-auth") {
      need("ssh-privatekey");
    } else if (type == "kubernetes.io/tls") {
      need("tls.crt");
      need("tls.key");
    }
  }

  void validate_update(WriteContext&, const json::Value& secret, const json::Value& old,
                       FieldErrors& errors) const override {
    if (text_at(secret, "type") != text_at(old, "type")) {
      errors.invalid_text("type", text_at(secret, "type"), "field is immutable");
    }
    validate_immutable_data(secret, old, {"data"}, errors);
  }

 private:
  static void need_json(const json::Value& data, std::string_view key, FieldErrors& errors) {
    const json::Value* value = data.find(key);
    if (value == nullptr || !value->is_string()) {
      errors.required(at_key("data", key), "");
      return;
    }
    Result<std::string> text = from_base64(value->as_string());
    const Result<json::Document> parsed =
        text ? json::parse(*text) : Result<json::Document>(std::unexpected(text.error()));
    if (!parsed || !parsed->root.is_object()) {
      errors.invalid_text(at_key("data", key), "<secret contents redacted>",
                          "must be a JSON object");
    }
  }
};

class ConfigMapStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }

  void validate(WriteContext&, const json::Value& map, FieldErrors& errors) const override {
    const std::size_t bytes =
        validate_keys(map, "data", errors) + validate_keys(map, "binaryData", errors);
    json::MemberIndex binary(object_at(map, "binaryData").members());
    for (const json::Member& member : object_at(map, "data").members()) {
      if (binary.find(member.key) != nullptr) {
        errors.invalid_text(at_key("data", member.key), member.key,
                            "duplicate of key present in binaryData");
      }
    }
    if (bytes > kDataBytesMax) {
      errors.too_long("", kDataBytesMax);
    }
  }

  void validate_update(WriteContext&, const json::Value& map, const json::Value& old,
                       FieldErrors& errors) const override {
    validate_immutable_data(map, old, {"data", "binaryData"}, errors);
  }
};

class EndpointsStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }
  bool allow_create_on_update() const override { return true; }
  void set_defaults(WriteContext& context, json::Value& endpoints) const override {
    for (json::Value& subset : items_at(endpoints, "subsets")) {
      for (json::Value& port : items_at(subset, "ports")) {
        default_text(context.arena, port, "protocol", "TCP");
      }
    }
  }
};

class PriorityClassStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& object) const override {
    default_text(context.arena, object, "preemptionPolicy", "PreemptLowerPriority");
  }
  void validate(WriteContext&, const json::Value& object, FieldErrors& errors) const override {
    constexpr std::int64_t kHighest = 1'000'000'000;
    const std::string_view name = text_at(object_at(object, "metadata"), "name");
    const std::int64_t value = integer_at(object, "value").value_or(0);
    const bool known = (name == "system-node-critical" && value == 2'000'001'000) ||
                       (name == "system-cluster-critical" && value == 2'000'000'000);
    if (name.starts_with("system-") && !known) {
      errors.forbidden("metadata.name",
                       "priority class names with 'system-' prefix are reserved for system use "
                       "only. error: " +
                           std::string(name) + " is not a known system priority class");
    } else if (!known && value > kHighest) {
      errors.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
    }
    const std::string_view policy = text_at(object, "preemptionPolicy");
    if (!policy.empty() && policy != "PreemptLowerPriority" && policy != "Never") {
      errors.not_supported("preemptionPolicy", quote(policy), {"PreemptLowerPriority", "Never"});
    }
  }
  void validate_update(WriteContext&, const json::Value& object, const json::Value& old,
                       FieldErrors& errors) const override {
    if (integer_at(object, "value").value_or(0) != integer_at(old, "value").value_or(0)) {
      errors.forbidden("value", "may not be changed in an update.");
    }
    if (text_at(object, "preemptionPolicy") != text_at(old, "preemptionPolicy")) {
      errors.invalid_text("preemptionPolicy", text_at(object, "preemptionPolicy"),
                          "field is immutable");
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_namespace_strategy() {
  return std::make_shared<NamespaceStrategy>();
}
std::shared_ptr<const Strategy> make_node_strategy() {
  return std::make_shared<NodeStrategy>();
}
std::shared_ptr<const Strategy> make_secret_strategy() {
  return std::make_shared<SecretStrategy>();
}
std::shared_ptr<const Strategy> make_config_map_strategy() {
  return std::make_shared<ConfigMapStrategy>();
}
std::shared_ptr<const Strategy> make_endpoints_strategy() {
  return std::make_shared<EndpointsStrategy>();
}
std::shared_ptr<const Strategy> make_priority_class_strategy() {
  return std::make_shared<PriorityClassStrategy>();
}

}  // namespace codeflare::apiserver
