#include "json/parse.h"
#include "json/pointer.h"
#include "json/write.h"
#include "model/codec/pod.h"
#include "model/validation.h"
#include "queue/demand.h"
#include "queue/internal/embedded_templates.h"
#include "queue/internal/pod_amounts.h"
#include "queue/kinds/problems.h"
#include "queue/kinds/template_reader.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace codeflare::queue {
namespace {

// Written by servers alone; a copy of a live object has them and could not be created.
constexpr std::array<std::string_view, 8> kServerFields = {
    "uid",           "resourceVersion",           "generation",
    "selfLink",      "creationTimestamp",         "deletionTimestamp",
    "managedFields", "deletionGracePeriodSeconds"};

using Labels = std::vector<std::pair<std::string, std::string>>;

// The member as an object, made when it is absent or null.
json::Value& object_at(json::Arena& arena, json::Value& parent, std::string_view key) {
  json::Value* found = parent.find(key);
  return found != nullptr && found->is_object() ? *found
                                                : parent.set(arena, key, json::Value::object());
}

// A name as a label's value: cut to its length, without signs at its end that would not be valid.
std::string label_value(std::string_view name) {
  std::string_view cut = name.substr(0, model::kLabelValueLengthMax);
  while (!cut.empty() && (cut.back() == '.' || cut.back() == '-' || cut.back() == '_')) {
    cut.remove_suffix(1);
  }
  return model::check_label_value(cut).empty() ? std::string(cut) : std::string();
}

class Instrumenter {
 public:
  Instrumenter(const model::AppWrapper& wrapper, const Demand& demand, std::size_t item,
               const InstrumentOptions& options, json::Document& document)
      : wrapper_(wrapper),
        demand_(demand),
        item_(item),
        options_(options),
        arena_(document.arena),
        root_(document.root) {}

  void run() {
    json::Value& metadata = object_at(arena_, root_, "metadata");
    for (const std::string_view field : kServerFields) {
      metadata.erase(field);
    }
    metadata.erase("generateName");
    const ItemInfo& info = demand_.items[item_];
    set(metadata, "name", info.key.name);
    if (!wrapper_.metadata.ns.empty()) {
      set(metadata, "namespace", wrapper_.metadata.ns);
    }
    add_missing_templates();
    const Labels ours = our_labels();
    const Labels inherited = labels_of(metadata);
    set_labels(metadata, ours);
    add_owner(metadata);
    for (const EmbeddedTemplate& each : embedded_templates(root_)) {
      instrument(each, inherited, ours);
    }
  }

 private:
  void set(json::Value& object, std::string_view key, std::string_view text) {
    object.set(arena_, key, json::Value::string(arena_, text));
  }

  Labels our_labels() const {
    const std::string& name = wrapper_.metadata.name;
    Labels labels = {{std::string(kAppWrapperLabel), name}, {std::string(kMcadLabel), name}};
    if (!wrapper_.metadata.uid.empty()) {
      labels.emplace_back(kUidLabel, wrapper_.metadata.uid);
    }
    if (std::string value = label_value(demand_.items[item_].key.name); !value.empty()) {
      labels.emplace_back(kMcadResourceLabel, std::move(value));
    }
    return labels;
  }

  static Labels labels_of(const json::Value& metadata) {
    Labels labels;
    if (const json::Value* own = metadata.find("labels")) {
      for (const json::Member& label : own->members()) {
        if (label.value.is_string()) {
          labels.emplace_back(label.key, label.value.as_string());
        }
      }
    }
    return labels;
  }

  // The object's labels win, but for one by which its selector finds the template's.
  void inherit(json::Value& metadata, const Labels& labels) {
    const json::Value* selected = root_.get({"spec", "selector", "matchLabels"});
    json::Value& target = object_at(arena_, metadata, "labels");
    for (const auto& [key, value] : labels) {
      const json::Value* wanted = selected == nullptr ? nullptr : selected->find(key);
      const json::Value* own = target.find(key);
      if (wanted == nullptr || own == nullptr || !json::equal(*own, *wanted)) {
        set(target, key, value);
      }
    }
  }

  void set_labels(json::Value& metadata, const Labels& labels) {
    json::Value& target = object_at(arena_, metadata, "labels");
    for (const auto& [key, value] : labels) {
      set(target, key, value);
    }
  }

  void add_owner(json::Value& metadata) {
    using Traits = model::ResourceTraits<model::AppWrapper>;
    json::Value owner = json::Value::object();
    set(owner, "apiVersion", model::api_version_of(options_.api));
    set(owner, "kind", Traits::kind);
    set(owner, "name", wrapper_.metadata.name);
    set(owner, "uid", wrapper_.metadata.uid);
    owner.set(arena_, "controller", json::Value::boolean(true));
    json::Value* owners = metadata.find("ownerReferences");
    if (owners == nullptr || !owners->is_array()) {
      owners = &metadata.set(arena_, "ownerReferences", json::Value::array());
    }
    owners->push_back(arena_, owner);
  }

  // Pods that a controller would make without a template of ours would go unlabelled.
  void add_missing_templates() {
    Problems ignored;
    ItemProblems item_ignored(ignored, "");
    TemplateReader reader(root_, check_pod_amounts, item_ignored);
    if (!reader.knows_kind()) {
      return;
    }
    for (const PodTemplate& each : reader.read()) {
      if (!each.missing || !each.path) {
        continue;
      }
      const Result<json::Pointer> pointer = json::Pointer::parse(*each.path);
      json::Value* parent = pointer ? json::find(root_, pointer->parent()) : nullptr;
      if (parent != nullptr) {
        json::Value pod_template = json::Value::object();
        pod_template.set(arena_, "spec", model::to_json(arena_, each.spec));
        parent->set(arena_, pointer->tokens().back(), pod_template);
      }
    }
  }

  void instrument(const EmbeddedTemplate& at, const Labels& inherited, const Labels& ours) {
    json::Value& metadata = object_at(arena_, *at.value, "metadata");
    inherit(metadata, inherited);
    set_labels(metadata, ours);
    json::Value& labels = object_at(arena_, metadata, "labels");
    if (const std::optional<std::size_t> pod_set = pod_set_at(at.pointer)) {
      set(labels, kPodSetLabel, std::to_string(*pod_set));
      annotate(metadata, *pod_set);
      keep_last_words(*at.value);
    } else {
      labels.erase(kPodSetLabel);
    }
    json::Value& spec = object_at(arena_, *at.value, "spec");
    if (wrapper_.spec.scheduling_spec && !wrapper_.spec.scheduling_spec->node_selector.empty()) {
      json::Value& selector = object_at(arena_, spec, "nodeSelector");
      for (const auto& [key, value] : wrapper_.spec.scheduling_spec->node_selector) {
        set(selector, key, value);
      }
    }
    if (!options_.scheduler_name.empty() && spec.string_or_empty("schedulerName").empty()) {
      set(spec, "schedulerName", options_.scheduler_name);
    }
  }

  void annotate(json::Value& metadata, std::size_t pod_set) {
    const auto found = options_.pod_annotations.find(static_cast<std::uint32_t>(pod_set));
    if (found == options_.pod_annotations.end()) {
      return;
    }
    json::Value& annotations = object_at(arena_, metadata, "annotations");
    for (const auto& [key, value] : found->second) {
      set(annotations, key, value);
    }
  }

  // The status of a container that fails then has the end of its log, also when the log is gone.
  void keep_last_words(json::Value& pod_template) {
    for (const std::string_view list : {"containers", "initContainers"}) {
      json::Value* containers = object_at(arena_, pod_template, "spec").find(list);
      for (json::Value& each :
           containers == nullptr ? std::span<json::Value>() : containers->items()) {
        if (each.is_object() && each.string_or_empty("terminationMessagePolicy").empty()) {
          set(each, "terminationMessagePolicy", "FallbackToLogsOnError");
        }
      }
    }
  }

  std::optional<std::size_t> pod_set_at(std::string_view pointer) const {
    for (std::size_t i = 0; i < demand_.pod_sets.size(); ++i) {
      const PodSetDemand& set = demand_.pod_sets[i];
      if (set.item == item_ && set.template_path == pointer) {
        return i;
      }
    }
    return std::nullopt;
  }

  const model::AppWrapper& wrapper_;
  const Demand& demand_;
  std::size_t item_;
  const InstrumentOptions& options_;
  json::Arena& arena_;
  json::Value& root_;
};

}  // namespace

Result<std::string> instrumented_item(const model::AppWrapper& wrapper, const Demand& demand,
                                      std::size_t item, const InstrumentOptions& options) {
  if (item >= demand.items.size() || item >= wrapper.spec.resources.generic_items.size()) {
    return fail(invalid_argument("item " + std::to_string(item) + " does not exist"));
  }
  const std::string& text = wrapper.spec.resources.generic_items[item].generic_template.text;
  TRY_ASSIGN(json::Document document, json::parse_in_place(text));
  if (!document.root.is_object()) {
    return fail(invalid_argument("item " + std::to_string(item) + " is not an object"));
  }
  Instrumenter(wrapper, demand, item, options, document).run();
  return json::to_text(document.root);
}

}  // namespace codeflare::queue
