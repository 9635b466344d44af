#pragma once

#include "base/result.h"
#include "model/extra.h"
#include "model/meta.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::json {
class Value;
}

namespace codeflare::model {

enum class SelectorOperator : std::uint8_t {
  equals,         // key=value
  double_equals,  // key==value, the same
  not_equals,     // key!=value: also true when the key is absent
  in,             // key in (a,b)
  not_in,         // key notin (a,b): also true when the key is absent
  exists,         // key
  absent,         // !key
  greater_than,   // key>5, for whole numbers
  less_than,      // key<5
};

// One condition on one label.
class Requirement {
 public:
  // Checks key, number of values and values, with kube-apiserver's words.
  static Result<Requirement> make(std::string key, SelectorOperator op,
                                  std::vector<std::string> values);

  const std::string& key() const { return key_; }
  SelectorOperator op() const { return op_; }
  const std::vector<std::string>& values() const { return values_; }

  // `value` is the label's value, or nothing when the object does not have the label.
  bool matches(std::optional<std::string_view> value) const;
  // As in a selector's text; several values are sorted.
  std::string to_string() const;
  friend bool operator==(const Requirement&, const Requirement&) = default;

 private:
  friend class Selector;
  Requirement(std::string key, SelectorOperator op, std::vector<std::string> values)
      : key_(std::move(key)), op_(op), values_(std::move(values)) {}

  std::string key_;
  SelectorOperator op_ = SelectorOperator::exists;
  std::vector<std::string> values_;
};

// A label selector: all of its requirements hold. One without requirements selects everything.
//   TRY_ASSIGN(Selector selector, Selector::parse("app=web,tier in (a,b),!draining"));
//   if (selector.matches(pod.metadata.labels)) ...
class Selector {
 public:
  Selector() = default;  // everything
  static Selector nothing();
  static Result<Selector> parse(std::string_view text);
  // Exactly these labels; keys and values are not checked.
  static Selector of_labels(const StringMap& labels);
  static Selector of(std::vector<Requirement> requirements);

  bool selects_nothing() const { return nothing_; }
  bool selects_everything() const { return !nothing_ && requirements_.empty(); }
  // Sorted by key.
  const std::vector<Requirement>& requirements() const { return requirements_; }
  void add(Requirement requirement);

  bool matches(const StringMap& labels) const;
  // A JSON object of labels, or nullptr for an object that has none.
  bool matches(const json::Value* labels) const;
  bool matches(const std::vector<std::pair<std::string, std::string>>& labels) const;
  // `lookup(key)` gives the label's value as std::optional<std::string_view>.
  template <typename Lookup>
  bool matches_with(Lookup&& lookup) const {
    return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
      return requirement.matches(lookup(std::string_view(requirement.key())));
    });
  }

  // The one value the label must have, when the selector says so: for index look-ups.
  std::optional<std::string_view> exact_value(std::string_view key) const;
  // Canonical; empty for everything and for nothing, as in Kubernetes.
  std::string to_string() const;
  friend bool operator==(const Selector&, const Selector&) = default;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// One expression of a LabelSelector or of a node affinity term.
struct SelectorExpression {
  std::string key;
  std::string op;  // "In", "NotIn", "Exists", "DoesNotExist"; nodes also "Gt", "Lt"
  List<std::string> values;
  Extra extra;

  friend bool operator==(const SelectorExpression&, const SelectorExpression&) = default;
};

// metav1.LabelSelector
struct LabelSelector {
  StringMap match_labels;
  List<SelectorExpression> match_expressions;
  Extra extra;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// An absent LabelSelector selects nothing, an empty one everything.
Result<Selector> to_selector(const std::optional<LabelSelector>& selector);
Result<Selector> to_selector(const LabelSelector& selector);
// All expressions together, with Gt and Lt, as in node affinity.
Result<Selector> to_node_selector(const std::vector<SelectorExpression>& expressions);

}  // namespace codeflare::model
