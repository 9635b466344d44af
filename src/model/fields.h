#pragma once

#include "base/result.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// A field selector: "status.phase=Running,spec.nodeName!=n1". All terms hold; an absent field
// counts as empty text. Which fields a kind offers is the caller's business: see terms().
class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool negated = false;  // !=
    friend bool operator==(const Term&, const Term&) = default;
  };

  FieldSelector() = default;  // everything
  // In values a backslash escapes ',', '=' and itself.
  static Result<FieldSelector> parse(std::string_view text);
  static FieldSelector equals(std::string field, std::string value);

  const std::vector<Term>& terms() const { return terms_; }
  bool selects_everything() const { return terms_.empty(); }

  // `lookup(field)` gives the field's text; it must live until the next call.
  template <typename Lookup>
  bool matches(Lookup&& lookup) const {
    return std::ranges::all_of(terms_, [&](const Term& term) {
      return (std::string_view(lookup(std::string_view(term.field))) == term.value) != term.negated;
    });
  }

  // The one value the field must have, when the selector says so.
  std::optional<std::string_view> exact_value(std::string_view field) const;
  std::string to_string() const;
  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<Term> terms_;
};

// The text with ',', '=' and backslash escaped, for use as a value in a field selector.
std::string escape_field_value(std::string_view value);

}  // namespace codeflare::model
