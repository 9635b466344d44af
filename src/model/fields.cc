#include "model/fields.h"

namespace codeflare::model {
namespace {

// The terms between unescaped commas.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
    }
  }
  return terms;
}

std::string to_text(const FieldSelector::Term& term) {
  return term.field + (term.negated ? "!=" : "=") + escape_field_value(term.value);
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') {
      return fail(invalid_argument(
          std::string("invalid field selector: unescaped character in value: ") + c));
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    const std::string_view escape = text.substr(i, 2);
    if (escape != "\\\\" && escape != "\\," && escape != "\\=") {
      return fail(invalid_argument("invalid field selector: invalid escape sequence: " +
                                   std::string(escape)));
    }
    out += escape[1];
    ++i;
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (std::string_view term : split_terms(text)) {
    if (term.empty()) {
      continue;
    }
    // Fields know no escapes: the first operator ends them. A '!' alone is part of the name.
    std::size_t at = term.find('=');
    if (at == std::string_view::npos) {
      std::string message = "invalid selector: '";
      return fail(invalid_argument(
          message.append(text).append("'; can't understand '").append(term).append("'")));
    }
    std::string_view value = term.substr(at + 1);
    const bool negated = at > 0 && term[at - 1] == '!';
    if (negated) {
      --at;
    } else if (value.starts_with('=')) {
      value.remove_prefix(1);
    }
    TRY_ASSIGN(std::string unescaped, unescape(value));
    // "=" says nothing about nothing.
    if (at > 0 || !unescaped.empty()) {
      selector.terms_.push_back({std::string(term.substr(0, at)), std::move(unescaped), negated});
    }
  }
  // By their canonical text, so that selectors that say the same are equal.
  std::ranges::sort(selector.terms_, {}, to_text);
  return selector;
}

FieldSelector FieldSelector::equals(std::string field, std::string value) {
  FieldSelector selector;
  selector.terms_.push_back({std::move(field), std::move(value), false});
  return selector;
}

std::optional<std::string_view> FieldSelector::exact_value(std::string_view field) const {
  auto at = std::ranges::find_if(
      terms_, [&](const Term& term) { return term.field == field && !term.negated; });
  return at == terms_.end() ? std::nullopt : std::optional<std::string_view>(at->value);
}

std::string FieldSelector::to_string() const {
  std::string out;
  for (const Term& term : terms_) {
    if (!out.empty()) {
      out += ',';
    }
    out += to_text(term);
  }
  return out;
}

std::string escape_field_value(std::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

}  // namespace codeflare::model
