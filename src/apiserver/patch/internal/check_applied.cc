#include "apiserver/patch/internal/go_print.h"
#include "apiserver/patch/internal/typed.h"
#include "apiserver/patch/internal/typed_merge.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

using json::Member;
using json::Value;
using schema::Node;
using schema::Shape;

class Checker {
 public:
  explicit Checker(json::Arena& arena) : arena_(arena) {}
  void check(const Node& node, const Value& value);
  std::vector<std::string> problems;

 private:
  void check_scalar(const Node& node, const Value& value);
  void check_map(const Node& node, const Value& map);
  void check_list(const Node& node, const Value& list);
  // No more, and with no longer paths, than anybody reads: each repeats its path, which can be as
  // long as the request.
  static constexpr std::size_t kProblemsMax = 256;
  void add(std::string_view problem) {
    if (problems.size() < kProblemsMax) {
      problems.push_back(path_.empty() ? std::string(problem)
                                       : shortened(path_) + ": " + std::string(problem));
    }
  }

  // Appends the element while something below it is looked at.
  class Step {
   public:
    Step(std::string& path, const PathElement& element) : path_(path), size_(path.size()) {
      append_display(path, element);
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    std::size_t size_;
  };

  json::Arena& arena_;
  std::string path_;
};

// As upstream shows a value of the wrong kind.
std::string shown(const Value& value) {
  return "&{" + go_print(value) + "}";
}

void Checker::check_scalar(const Node& node, const Value& value) {
  switch (node.shape) {
    case Shape::boolean:
      if (!value.is_boolean()) {
        add("expected boolean, got " + shown(value));
      }
      return;
    case Shape::integer:
    case Shape::number:
      if (!value.is_number()) {
        add("expected numeric (int or float), got " + std::string(go_type(value)));
      }
      return;
    case Shape::quantity:
      if (value.is_array() || value.is_object()) {
        add("expected any scalar, got " + shown(value));
      }
      return;
    case Shape::int_or_string:
    case Shape::any:
      return;  // whether it makes sense is for later
    default:
      if (!value.is_string()) {
        add("expected string, got &value.valueUnstructured{Value:" + go_syntax(value) + "}");
      }
  }
}

void Checker::check_map(const Node& node, const Value& map) {
  if (!map.is_object()) {
    add("expected map, got " + shown(map));
    return;
  }
  for (const Member& member : map.members()) {
    Step step(path_, PathElement::field(member.key));
    const Node* child = member_node(node, member.key);
    if (child == nullptr) {
      add("field not declared in schema");
      return;
    }
    check(*child, member.value);
  }
}

void Checker::check_list(const Node& node, const Value& list) {
  if (!list.is_array()) {
    add("expected list, got " + shown(list));
    return;
  }
  bool keyed = node.shape == Shape::list && node.list_type != schema::ListType::atomic;
  std::vector<PathElement> elements;
  std::string problem;
  for (const Value& item : list.items()) {
    auto index = Value::integer(arena_, static_cast<std::int64_t>(elements.size()));
    PathElement element{PathElement::Kind::index, index};
    auto known_by = keyed ? item_element(arena_, node, item, &problem) : std::optional(element);
    if (!known_by) {
      break;
    }
    elements.push_back(*known_by);
  }
  ItemIndex first_seen(elements);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (problems.size() < kProblemsMax && first_seen.find(elements[i])[0] != i) {
      std::string key;
      append_display(key, elements[i]);
      add("duplicate entries for key " + key);
    }
    Step step(path_, elements[i]);
    check(item_node(node), list.items()[i]);
  }
  if (elements.size() < list.size()) {
    add("element " + std::to_string(elements.size()) + ": " + problem);
  }
}

void Checker::check(const Node& node, const Value& value) {
  if (value.is_null()) {
    return;
  }
  switch (atom_of(node, value)) {
    case Atom::scalar:
      check_scalar(node, value);
      return;
    case Atom::map:
      check_map(node, value);
      return;
    case Atom::list:
      check_list(node, value);
      return;
  }
}

}  // namespace

std::vector<std::string> check_applied(json::Arena& arena, const Node& node, const Value& applied) {
  Checker checker(arena);
  checker.check(node, applied);
  return std::move(checker.problems);
}

}  // namespace codeflare::apiserver::internal
