#include "apiserver/schema/checks.h"
#include "apiserver/schema/internal/field_path.h"
#include "apiserver/schema/internal/number.h"
#include "apiserver/schema/internal/structure_check.h"
#include "json/member_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace codeflare::apiserver::schema::internal {
namespace {

using model::StatusCause;

// The findings of one node. Upstream reports of several failed branches the one that matched most,
// so matches are counted just as it counts them. Each cause is compared with the others, so no more
// are kept than will be reported.
struct Findings {
  std::vector<StatusCause> causes{};
  int matches = 0;

  bool valid() const { return causes.empty(); }
  void add(StatusCause cause) {
    if (causes.size() < FieldErrors::kCausesMax &&
        std::ranges::find(causes, cause) == causes.end()) {
      causes.push_back(std::move(cause));
    }
  }
  void merge(Findings other) {
    for (StatusCause& cause : other.causes) {
      add(std::move(cause));
    }
    matches += other.matches;
  }
  void take(const FieldErrors& errors) {
    for (const StatusCause& cause : errors.causes()) {
      add(cause);
    }
  }
};

std::string_view type_name(Shape shape) {
  switch (shape) {
    case Shape::any:
      return {};
    case Shape::boolean:
      return "boolean";
    case Shape::integer:
      return "integer";
    case Shape::number:
      return "number";
    case Shape::int_or_string:
      return "integer,string";
    case Shape::structure:
    case Shape::map:
      return "object";
    case Shape::list:
      return "array";
    default:
      return "string";
  }
}

// Beyond this a double no longer tells neighbours apart, and upstream no longer calls it integral.
constexpr double kIntegerMax = 9007199254740991.0;

bool is_integral(double value) {
  return std::isfinite(value) && std::abs(value) <= kIntegerMax &&
         std::abs(value - std::round(value)) < 1e-9 * std::max(1.0, std::abs(value));
}

// The integer part, as far as 64 bits go.
std::int64_t whole_part(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (value >= kLimit) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return value > -kLimit ? static_cast<std::int64_t>(value)
                         : std::numeric_limits<std::int64_t>::min();
}

std::string_view actual_type(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return "boolean";
    case json::Kind::number:
      return exact_integer(value.number()) ? "integer" : "number";
    case json::Kind::string:
      return "string";
    case json::Kind::array:
      return "array";
    case json::Kind::object:
      return "object";
  }
  return {};
}

bool has_type(Shape shape, const json::Value& value) {
  switch (shape) {
    case Shape::any:
      return true;
    case Shape::boolean:
      return value.is_boolean();
    case Shape::integer:
      return value.is_number() && (exact_integer(value.number()).has_value() ||
                                   is_integral(value.to_double().value_or(NAN)));
    case Shape::number:
      return value.is_number();
    case Shape::int_or_string:
      return value.is_string() || has_type(Shape::integer, value);
    case Shape::structure:
    case Shape::map:
      return value.is_object();
    case Shape::list:
      return value.is_array();
    case Shape::quantity:
      return value.is_string() || value.is_number();
    default:
      return value.is_string();
  }
}

std::size_t count_runes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string in_body(const std::string& path, std::string_view what) {
  return path + " in body " + std::string(what);
}

class ValueChecker {
 public:
  Findings check(const Node& node, const json::Value& value, const json::Value* old) {
    Findings found = check_here(node, value, old);
    if (!found.valid() && old != nullptr && json::equal(value, *old)) {
      found.causes.clear();
    }
    return found;
  }

 private:
  Findings check_here(const Node& node, const json::Value& value, const json::Value* old) {
    const std::string& path = path_.text();
    Findings found;
    check_type(node, value, path, found);
    const Checks* checks = node.checks;
    if (value.is_null()) {
      check_enumeration(node, value, path, found);
      return found;
    }
    if (checks != nullptr) {
      check_branches(*checks, value, found);
      if (value.is_string()) {
        check_string(*checks, value.as_string(), path, found);
      } else if (value.is_number()) {
        check_number(*checks, value, path, found);
      }
    }
    found.matches += 2;  // branches and enumeration always apply
    if (value.is_array()) {
      check_list(node, value, old, found);
    }
    check_enumeration(node, value, path, found);
    if (value.is_object()) {
      check_object(node, value, old, found);
    }
    ++found.matches;
    return found;
  }

  static void check_type(const Node& node, const json::Value& value, const std::string& path,
                         Findings& found) {
    std::string_view name = type_name(node.shape);
    if (name.empty()) {
      return;
    }
    ++found.matches;
    if (value.is_null() ? node.nullable : has_type(node.shape, value)) {
      ++found.matches;
      return;
    }
    std::string actual = quote(actual_type(value));
    FieldErrors errors;
    errors.type_invalid(path, actual,
                        in_body(path, "must be of type ") + std::string(name) + ": " + actual);
    found.take(errors);
  }

  static void check_enumeration(const Node& node, const json::Value& value, const std::string& path,
                                Findings& found) {
    if (node.checks == nullptr || node.checks->enumeration.empty()) {
      return;
    }
    std::vector<std::string> supported;
    for (const json::Value& allowed : node.checks->enumeration) {
      if (json::equal(allowed, value)) {
        return;
      }
      supported.push_back(allowed.is_string() ? std::string(allowed.as_string()) : show(allowed));
    }
    FieldErrors errors;
    errors.not_supported(path, show(value), supported);
    found.take(errors);
  }

  static void check_string(const Checks& checks, std::string_view text, const std::string& path,
                           Findings& found) {
    FieldErrors errors;
    auto length = static_cast<std::int64_t>(count_runes(text));
    if (checks.length_max && length > *checks.length_max) {
      errors.too_long(path,
                      static_cast<std::size_t>(std::max<std::int64_t>(0, *checks.length_max)));
    } else if (checks.length_min && length < *checks.length_min) {
      errors.invalid_text(path, text,
                          in_body(path, "should be at least ") +
                              std::to_string(*checks.length_min) + " chars long");
    } else if (checks.pattern != nullptr && !checks.pattern->matches(text)) {
      errors.invalid_text(
          path, text, in_body(path, "should match '") + std::string(checks.pattern->text()) + "'");
    }
    if (!checks.format.empty() && !format_accepts(checks.format, text)) {
      errors.type_invalid(
          path, quote(text),
          in_body(path, "must be of type ") + std::string(checks.format) + ": " + quote(text));
    }
    found.matches += checks.format.empty() ? 1 : 2;
    found.take(errors);
  }

  static void check_number(const Checks& checks, const json::Value& value, const std::string& path,
                           Findings& found) {
    std::optional<std::int64_t> integer = exact_integer(value.number());
    double number = value.to_double().value_or(0);
    FieldErrors errors;
    // Bounds are compared as integers when the value is one, and shown accordingly.
    auto bound_text = [&](double bound) {
      return integer ? std::to_string(whole_part(bound)) : show_double(bound);
    };
    auto complain = [&](std::string_view words, double bound) {
      errors.invalid(path, show(value), in_body(path, words) + bound_text(bound));
    };
    if (checks.multiple_of && integer && *checks.multiple_of < 1) {
      // Upstream divides integers by integers, whatever the schema says.
      errors.invalid(path, show(value),
                     "factor MultipleOf declared for " + path + " must be positive: 0");
    } else if (checks.multiple_of && !is_multiple(integer, number, *checks.multiple_of)) {
      complain("should be a multiple of ", *checks.multiple_of);
    }
    auto compare = [&](double bound) {
      return integer ? (*integer < whole_part(bound)   ? -1
                        : *integer > whole_part(bound) ? 1
                                                       : 0)
                     : (number < bound   ? -1
                        : number > bound ? 1
                                         : 0);
    };
    if (checks.minimum) {
      int order = compare(*checks.minimum);
      if (order < 0 || (order == 0 && checks.exclusive_minimum)) {
        complain(checks.exclusive_minimum ? "should be greater than "
                                          : "should be greater than or equal to ",
                 *checks.minimum);
      }
    }
    if (checks.maximum) {
      int order = compare(*checks.maximum);
      if (order > 0 || (order == 0 && checks.exclusive_maximum)) {
        complain(
            checks.exclusive_maximum ? "should be less than " : "should be less than or equal to ",
            *checks.maximum);
      }
    }
    found.matches += 2;
    found.take(errors);
  }

  static bool is_multiple(std::optional<std::int64_t> integer, double number, double factor) {
    if (integer) {
      auto whole = whole_part(factor);
      return whole > 0 && *integer % whole == 0;
    }
    return factor > 0 && is_integral(factor < 1 ? 1 / factor * number : number / factor);
  }

  void check_list(const Node& node, const json::Value& value, const json::Value* old,
                  Findings& found) {
    const Node* items = node.shape == Shape::list ? node.items
                        : node.checks != nullptr  ? node.checks->branch_items
                                                  : nullptr;
    if (items != nullptr) {
      OldItems old_items(node, old);
      for (std::size_t i = 0; i < value.size(); ++i) {
        const json::Value& item = value.items()[i];
        auto step = path_.index(i);
        found.merge(check(*items, item, old_items.find(item)));
      }
    }
    found.matches += 2;
    if (node.checks == nullptr) {
      return;
    }
    const Checks& checks = *node.checks;
    const std::string& path = path_.text();
    FieldErrors errors;
    auto size = static_cast<std::int64_t>(value.size());
    if (checks.items_min && size < *checks.items_min) {
      errors.invalid(
          path, std::to_string(size),
          in_body(path, "should have at least ") + std::to_string(*checks.items_min) + " items");
    }
    if (checks.items_max && size > *checks.items_max) {
      errors.too_many(path, value.size(),
                      static_cast<std::size_t>(std::max<std::int64_t>(0, *checks.items_max)));
    }
    if (checks.unique_items && has_equal_items(value)) {
      errors.invalid_text(path, "", in_body(path, "shouldn't contain duplicates"));
    }
    found.take(errors);
  }

  static bool has_equal_items(const json::Value& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (json::equal(value.items()[i], value.items()[j])) {
          return true;
        }
      }
    }
    return false;
  }

  void check_object(const Node& node, const json::Value& value, const json::Value* old,
                    Findings& found) {
    const bool root = path_.text().empty();
    check_sizes(node.checks, value, path_.text(), found);
    const Node* others = node.shape != Shape::any ? node.items
                         : node.checks != nullptr ? node.checks->branch_values
                                                  : nullptr;
    json::MemberIndex old_members(old == nullptr ? std::span<const json::Member>()
                                                 : old->members());
    for (const json::Member& member : value.members()) {
      const Field* field = node.find(member.key);
      const Node* child = field != nullptr ? field->node : others;
      if (child == nullptr) {
        continue;
      }
      // Members that every request carries anew can't be an old mistake.
      bool type_meta = root && (member.key == "apiVersion" || member.key == "kind");
      const json::Value* old_member = type_meta ? nullptr : old_members.find(member.key);
      auto step = path_.field(member.key);  // values of maps too: so does upstream
      found.merge(check(*child, member.value, old_member));
    }
    if (node.checks != nullptr) {
      json::MemberIndex members(value.members());
      for (std::string_view name : node.checks->required) {
        if (members.find(name) == nullptr) {
          FieldErrors errors;
          errors.required(path_.child(name));
          found.take(errors);
        }
      }
    }
    ++found.matches;
  }

  static void check_sizes(const Checks* checks, const json::Value& value, const std::string& path,
                          Findings& found) {
    if (checks == nullptr) {
      return;
    }
    FieldErrors errors;
    auto size = static_cast<std::int64_t>(value.size());
    if (checks->properties_min && size < *checks->properties_min) {
      errors.invalid(path, std::to_string(size),
                     in_body(path, "should have at least ") +
                         std::to_string(*checks->properties_min) + " properties");
    }
    if (checks->properties_max && size > *checks->properties_max) {
      errors.too_many(path, value.size(),
                      static_cast<std::size_t>(std::max<std::int64_t>(0, *checks->properties_max)));
    }
    found.take(errors);
  }

  // Failures of branches as a whole belong to no field: upstream files them under "<nil>".
  static void complain(const std::string& path, std::string_view words, Findings& found) {
    FieldErrors errors;
    errors.invalid_text("<nil>", "", quote(path) + " " + std::string(words));
    found.take(errors);
  }

  void check_branches(const Checks& checks, const json::Value& value, Findings& found) {
    const std::string& path = path_.text();
    if (!checks.any_of.empty()) {
      check_any_of(checks, value, found);
    }
    if (!checks.one_of.empty()) {
      check_one_of(checks, value, found);
    }
    std::size_t valid = 0;
    for (const Node* branch : checks.all_of) {
      Findings result = check(*branch, value, nullptr);
      valid += result.valid() ? 1 : 0;
      found.merge(std::move(result));
    }
    if (valid != checks.all_of.size()) {
      complain(path,
               valid == 0 ? "must validate all the schemas (allOf). None validated"
                          : "must validate all the schemas (allOf)",
               found);
    }
    if (checks.negated != nullptr && check(*checks.negated, value, nullptr).valid()) {
      complain(path, "must not validate the schema (not)", found);
    }
    ++found.matches;
  }

  void check_any_of(const Checks& checks, const json::Value& value, Findings& found) {
    const std::string& path = path_.text();
    std::optional<Findings> best;
    for (const Node* branch : checks.any_of) {
      Findings result = check(*branch, value, nullptr);
      if (result.valid()) {
        found.merge(std::move(result));
        return;
      }
      if (!best || result.matches > best->matches) {
        best = std::move(result);
      }
    }
    complain(path, "must validate at least one schema (anyOf)", found);
    found.merge(*std::move(best));
  }

  void check_one_of(const Checks& checks, const json::Value& value, Findings& found) {
    const std::string& path = path_.text();
    std::optional<Findings> best;
    std::optional<Findings> success;
    int valid = 0;
    for (const Node* branch : checks.one_of) {
      Findings result = check(*branch, value, nullptr);
      if (result.valid()) {
        ++valid;
        best.reset();
        success = success ? success : std::move(result);
      } else if (valid == 0 && (!best || result.matches > best->matches)) {
        best = std::move(result);
      }
    }
    if (valid == 1) {
      found.merge(*std::move(success));
      return;
    }
    complain(path,
             "must validate one and only one schema (oneOf). " +
                 (valid == 0 ? "Found none valid"
                             : "Found " + std::to_string(valid) + " valid alternatives"),
             found);
    if (best) {
      found.merge(*std::move(best));
    }
  }

  FieldPath path_;
};

}  // namespace

void check_values(const Node& node, const json::Value& value, const json::Value* old,
                  FieldErrors& errors) {
  Findings found = ValueChecker().check(node, value, old);
  for (StatusCause& cause : found.causes) {
    errors.add(std::move(cause));
  }
}

}  // namespace codeflare::apiserver::schema::internal
