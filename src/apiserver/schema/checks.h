#pragma once

#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::schema {

// A regular expression of a schema: RE2 syntax, found anywhere in the text unless it is anchored.
class Pattern {
 public:
  static Result<std::shared_ptr<const Pattern>> compile(std::string_view text);
  virtual ~Pattern() = default;
  virtual bool matches(std::string_view text) const = 0;
  // The leftmost match that begins at `from` or later, as a part of `text`; what is before `from`
  // counts for anchors and word boundaries.
  virtual std::optional<std::string_view> find(std::string_view text, std::size_t from) const = 0;
  std::string_view text() const { return text_; }

 protected:
  explicit Pattern(std::string_view text) : text_(text) {}

 private:
  std::string text_;
};

// The remaining cost of rules on one object, in the units of the expression language.
struct RuleBudget {
  std::uint64_t left = 10'000'000;
};

// Judges a value beyond what a schema can say (x-kubernetes-validations).
class Rule {
 public:
  virtual ~Rule() = default;
  struct Subject {
    const std::string& path;           // "spec.jobs[0]"; empty at the root
    const Node& node;                  //
    const json::Value& value;          // not null
    const json::Value* old = nullptr;  // null: created, or not to be found in the old object
    bool unchanged = false;            // equal to the old value, and so are the object's parts
  };
  // False: the budget is spent, and the errors say so.
  virtual bool check(const Subject& subject, RuleBudget& budget, FieldErrors& errors) const = 0;
};

// Value checks of a schema beyond the shape. Absent ones cost nothing but room.
struct Checks {
  std::vector<std::string_view> required{};  // in the schema's order
  std::vector<json::Value> enumeration{};
  std::shared_ptr<const Pattern> pattern{};
  std::string_view format{};  // one of those that are checked, as the schema spells it
  std::optional<double> minimum{};
  std::optional<double> maximum{};
  std::optional<double> multiple_of{};
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  bool unique_items = false;
  std::optional<std::int64_t> length_min{};
  std::optional<std::int64_t> length_max{};
  std::optional<std::int64_t> items_min{};
  std::optional<std::int64_t> items_max{};
  std::optional<std::int64_t> properties_min{};
  std::optional<std::int64_t> properties_max{};

  // Branches are nodes that only validate; mostly Shape::any with fields and checks of their own.
  std::vector<const Node*> all_of{};
  std::vector<const Node*> any_of{};
  std::vector<const Node*> one_of{};
  const Node* negated = nullptr;
  // Of a branch that does not say what shape it is: the items of a list, the values of other keys.
  const Node* branch_items = nullptr;
  const Node* branch_values = nullptr;

  std::vector<std::shared_ptr<const Rule>> rules{};
  bool rules_below = false;  // here or in a part of it: what has none is not walked
};

// Formats that are checked are known by their name without dashes: "date-time", "ipv4", "uuid".
bool format_is_known(std::string_view format);
bool format_accepts(std::string_view format, std::string_view text);

}  // namespace codeflare::apiserver::schema
