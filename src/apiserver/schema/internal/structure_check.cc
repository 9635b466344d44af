#include "apiserver/schema/internal/structure_check.h"

#include "apiserver/schema/checks.h"
#include "apiserver/schema/internal/field_path.h"
#include "apiserver/schema/walk.h"
#include "json/member_index.h"
#include "model/validation.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace codeflare::apiserver::schema::internal {
namespace {

// Visits the parts of an object that the schema knows; `visit` is called with the child's node.
template <typename Visit>
void for_each_part(const Node& node, const json::Value& value, FieldPath& path, Visit visit) {
  if (value.is_object()) {
    for (const json::Member& member : value.members()) {
      if (const Field* field = node.find(member.key)) {
        auto step = path.field(member.key);
        visit(*field->node, member);
      } else if (node.shape != Shape::any && node.items != nullptr) {
        auto step = path.key(member.key);
        visit(*node.items, member);
      }
    }
  } else if (value.is_array() && node.shape == Shape::list && node.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto step = path.index(i);
      visit(*node.items, json::Member{{}, value.items()[i]});
    }
  }
}

class EmbeddedChecker {
 public:
  explicit EmbeddedChecker(FieldErrors& errors) : errors_(errors) {}

  void check(const Node& node, const json::Value& value) {
    if (node.embedded_resource && value.is_object()) {
      check_resource(node, value);
    }
    for_each_part(node, value, path_, [&](const Node& child, const json::Member& member) {
      check(child, member.value);
    });
  }

 private:
  // The text of apiVersion or kind when it is one.
  std::optional<std::string_view> text_of(const json::Value& value, std::string_view name) {
    const json::Value* member = value.find(name);
    if (member == nullptr) {
      errors_.required(path_.child(name));
    } else if (!member->is_string()) {
      errors_.invalid(path_.child(name), show(*member), "must be a string");
    } else if (member->as_string().empty()) {
      errors_.invalid_text(path_.child(name), "", "must not be empty");
    } else {
      return member->as_string();
    }
    return std::nullopt;
  }

  void check_resource(const Node& node, const json::Value& value) {
    if (auto version = text_of(value, "apiVersion");
        version && std::ranges::count(*version, '/') > 1) {
      errors_.invalid_text(path_.child("apiVersion"), *version,
                           "unexpected GroupVersion string: " + std::string(*version));
    }
    if (auto kind = text_of(value, "kind")) {
      std::string lower(*kind);
      std::ranges::transform(lower, lower.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (auto complaints = model::check_dns1035_label(lower); !complaints.empty()) {
        errors_.invalid_text(
            path_.child("kind"), *kind,
            "may have mixed case, but should otherwise match: " + model::join(complaints, ","));
      }
    }
    const json::Value* metadata = value.find("metadata");
    const Field* field = node.find("metadata");
    if (metadata != nullptr && field != nullptr) {
      if (auto shapes = check_shapes(*field->node, *metadata); !shapes) {
        errors_.invalid(path_.child("metadata"), show(*metadata), shapes.error().message);
      }
    }
  }

  FieldErrors& errors_;
  FieldPath path_;
};

class ListChecker {
 public:
  explicit ListChecker(FieldErrors& errors) : errors_(errors) {}

  void check(const Node& node, const json::Value& value) {
    if (value.is_array() && node.shape == Shape::list) {
      if (node.list_type == ListType::set) {
        check_set(value);
      } else if (node.list_type == ListType::map) {
        check_map(node, value);
      }
    }
    for_each_part(node, value, path_, [&](const Node& child, const json::Member& member) {
      check(child, member.value);
    });
  }

 private:
  // Calls `report` with the index of the second of several equal texts.
  template <typename Report>
  static void find_repeated(const std::vector<std::string>& texts, Report report) {
    std::map<std::string_view, int> seen;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (++seen[texts[i]] == 2) {
        report(i);
      }
    }
  }

  void check_set(const json::Value& list) {
    std::vector<std::string> texts;
    for (const json::Value& item : list.items()) {
      texts.push_back(show(item));
    }
    find_repeated(texts, [&](std::size_t i) {
      auto step = path_.index(i);
      errors_.duplicate(path_.text(), texts[i]);
    });
  }

  void check_map(const Node& node, const json::Value& list) {
    std::vector<std::string> texts;
    json::Arena arena;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const json::Value& item = list.items()[i];
      if (!item.is_object() && !item.is_null()) {
        auto step = path_.index(i);
        errors_.invalid(path_.text(), show(item),
                        "must be an object for an array of list-type map");
        return;
      }
      json::Value keys = json::Value::object();
      for (std::string_view name : node.map_keys) {
        if (const json::Value* key = item.find(name)) {
          keys.set_static(arena, name, *key);
        }
      }
      texts.push_back(show(keys));
    }
    find_repeated(texts, [&](std::size_t i) {
      auto step = path_.index(i);
      errors_.duplicate(path_.text(), texts[i]);
    });
  }

  FieldErrors& errors_;
  FieldPath path_;
};

class RuleChecker {
 public:
  explicit RuleChecker(FieldErrors& errors) : errors_(errors) {}

  void check(const Node& node, const json::Value& value, const json::Value* old) {
    if (spent_ || node.checks == nullptr || !node.checks->rules_below || value.is_null()) {
      return;
    }
    if (!node.checks->rules.empty()) {
      bool unchanged = old != nullptr && json::equal(value, *old);
      for (const auto& rule : node.checks->rules) {
        if (!rule->check({path_.text(), node, value, old, unchanged}, budget_, errors_)) {
          spent_ = true;
          return;
        }
      }
    }
    OldItems old_items(node, old);
    json::MemberIndex old_members(old == nullptr || node.atomic ? std::span<const json::Member>()
                                                                : old->members());
    for_each_part(node, value, path_, [&](const Node& child, const json::Member& member) {
      check(
          child, member.value,
          node.shape == Shape::list ? old_items.find(member.value) : old_members.find(member.key));
    });
  }

 private:
  FieldErrors& errors_;
  FieldPath path_;
  RuleBudget budget_;
  bool spent_ = false;
};

// Equal for items with equal keys.
std::string keys_text(const Node& list, const json::Value& item) {
  std::string text;
  for (std::string_view name : list.map_keys) {
    const json::Value* key = item.find(name);
    const std::optional<std::int64_t> integer = key == nullptr ? std::nullopt : key->to_int64();
    text += key == nullptr ? "absent" : integer ? std::to_string(*integer) : show(*key);
    text += ',';
  }
  return text;
}

}  // namespace

OldItems::OldItems(const Node& list, const json::Value* old) : list_(list) {
  if (old != nullptr && list.list_type == ListType::map) {
    items_ = old->items();
  }
}

const json::Value* OldItems::find(const json::Value& item) {
  if (items_.empty() || !item.is_object()) {
    return nullptr;
  }
  if (by_keys_.empty()) {
    for (const json::Value& old : items_) {
      if (old.is_object()) {
        by_keys_.try_emplace(keys_text(list_, old), &old);
      }
    }
  }
  auto at = by_keys_.find(keys_text(list_, item));
  return at == by_keys_.end() ? nullptr : at->second;
}

void check_embedded(const Node& node, const json::Value& value, FieldErrors& errors) {
  EmbeddedChecker(errors).check(node, value);
}

void check_lists(const Node& node, const json::Value& value, FieldErrors& errors) {
  ListChecker(errors).check(node, value);
}

void check_rules(const Node& node, const json::Value& value, const json::Value* old,
                 FieldErrors& errors) {
  RuleChecker(errors).check(node, value, old);
}

}  // namespace codeflare::apiserver::schema::internal
