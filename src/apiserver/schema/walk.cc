#include "apiserver/schema/walk.h"

#include "apiserver/schema/internal/field_path.h"
#include "json/member_index.h"
#include "json/parse.h"

#include <algorithm>

namespace codeflare::apiserver::schema {
namespace {

using internal::FieldPath;

constexpr std::size_t kFewFields = 64;
// As many unknown fields as upstream reports.
constexpr std::size_t kUnknownMax = 100;

bool is_type_meta(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

// The schema of a member: null for an unknown one.
const Node* node_of(const Node& node, std::string_view key) {
  const Field* field = node.find(key);
  return field != nullptr ? field->node : node.shape == Shape::any ? nullptr : node.items;
}

class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* unknown) : unknown_(unknown) {}

  void prune(const Node& node, json::Value& value, bool root) {
    if (node.shape == Shape::any) {
      prune_any(node, value);
    } else if (value.is_object()) {
      prune_object(node, value, root);
    } else if (value.is_array() && node.items != nullptr) {
      prune_items(*node.items, value);
    }
  }

 private:
  // Where the shape is open, objects may still have parts that are known, or be of a known shape
  // (JSONSchemaPropsOrArray).
  void prune_any(const Node& node, json::Value& value) {
    if (!node.fields.empty() && value.is_object()) {
      prune_object(node, value, false);
    } else if (node.items != nullptr && value.is_object()) {
      prune(*node.items, value, false);
    } else if (node.items != nullptr && value.is_array()) {
      prune_items(*node.items, value);
    }
  }

  void prune_items(const Node& node, json::Value& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto step = path_.index(i);
      prune(node, value.items()[i], false);
    }
  }

  void prune_object(const Node& node, json::Value& value, bool root) {
    bool any_unknown = false;
    for (json::Member& member : value.members()) {
      if (const Node* child = node_of(node, member.key)) {
        auto step = path_.field(member.key);
        prune(*child, member.value, false);
      } else {
        any_unknown = any_unknown || !keeps(node, member.key, root);
      }
    }
    if (any_unknown) {
      remove_unknown(node, value, root);
    }
  }

  bool keeps(const Node& node, std::string_view key, bool root) const {
    // Shapes other than a structure or map hold no fields that could be unknown.
    bool closed = node.shape == Shape::structure || node.shape == Shape::map;
    return !closed || node.preserve_unknown ||
           ((root || node.embedded_resource) && is_type_meta(key));
  }

  void remove_unknown(const Node& node, json::Value& value, bool root) {
    value.erase_if([&](const json::Member& member) {
      if (node_of(node, member.key) != nullptr || keeps(node, member.key, root)) {
        return false;
      }
      report(member.key);
      return true;
    });
  }

  void report(std::string_view key) {
    if (unknown_ != nullptr && reported_ < kUnknownMax) {
      ++reported_;
      unknown_->push_back(path_.child(key));
    }
  }

  std::vector<std::string>* unknown_;
  std::size_t reported_ = 0;
  FieldPath path_;
};

// The default of a node as a tree of its own; null when there is none.
json::Value default_of(const Node& node, json::Arena& arena) {
  if (node.default_json.empty()) {
    return {};
  }
  auto document = json::parse(node.default_json);
  CHECK(document.has_value());  // tables and compiled schemas hold valid JSON
  return document->root.clone(arena);
}

void default_object(const Node& node, json::Arena& arena, json::Value& value);

void default_value(const Node& node, json::Arena& arena, json::Value& value) {
  if (node.shape == Shape::any) {
    if (!node.fields.empty() && value.is_object()) {
      default_object(node, arena, value);
    } else if (node.items != nullptr && value.is_object()) {
      default_object(*node.items, arena, value);
    } else if (node.items != nullptr) {
      for (json::Value& item : value.items()) {
        default_value(*node.items, arena, item);
      }
    }
  } else if (value.is_object()) {
    default_object(node, arena, value);
  } else if (value.is_array() && node.items != nullptr) {
    for (json::Value& item : value.items()) {
      if (item.is_null() && !node.items->nullable) {
        item = default_of(*node.items, arena);
      }
      default_value(*node.items, arena, item);
    }
  }
}

// Whether the member stays: a null that the schema allows nowhere and gives no default to goes.
bool default_member(const Node& node, json::Arena& arena, json::Member& member) {
  const Node* child = node_of(node, member.key);
  if (child == nullptr) {
    return true;
  }
  if (member.value.is_null() && !child->nullable) {
    if (!child->default_json.empty()) {
      member.value = default_of(*child, arena);
    } else if (child->shape != Shape::any || child->preserve_unknown) {
      return false;
    }
  }
  default_value(*child, arena, member.value);
  return true;
}

void default_object(const Node& node, json::Arena& arena, json::Value& value) {
  value.erase_if([&](json::Member& member) { return !default_member(node, arena, member); });
  json::MemberIndex present(value.members());
  std::vector<const Field*> absent;
  for (const Field& field : node.fields) {
    if (!field.node->default_json.empty() && present.find(field.name) == nullptr) {
      absent.push_back(&field);
    }
  }
  for (const Field* field : absent) {
    default_value(*field->node, arena,
                  value.append(arena, field->name, default_of(*field->node, arena)));
  }
}

}  // namespace

const Field* Node::find(std::string_view name) const {
  // Names seldom have the same length: to go through some dozens is quicker than to compare letters
  // with a few of them, which no processor foresees.
  if (fields.size() <= kFewFields) {
    auto at = std::ranges::find(fields, name, &Field::name);
    return at != fields.end() ? &*at : nullptr;
  }
  auto at = std::ranges::lower_bound(fields, name, {}, &Field::name);
  return at != fields.end() && at->name == name ? &*at : nullptr;
}

void prune(const Node& node, json::Value& value, std::vector<std::string>* unknown) {
  std::size_t before = unknown == nullptr ? 0 : unknown->size();
  Pruner(unknown).prune(node, value, true);
  if (unknown != nullptr) {
    std::sort(unknown->begin() + static_cast<std::ptrdiff_t>(before), unknown->end());
  }
}

void apply_defaults(const Node& node, json::Arena& arena, json::Value& value) {
  default_value(node, arena, value);
}

}  // namespace codeflare::apiserver::schema
