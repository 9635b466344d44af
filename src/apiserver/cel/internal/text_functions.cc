#include "apiserver/cel/internal/function_table.h"
#include "apiserver/schema/checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::apiserver::cel {
namespace {

using Arguments = std::span<const Value>;

Result<void> expect(Arguments arguments, std::initializer_list<Type> types) {
  std::size_t i = 0;
  for (Type type : types) {
    if (i < arguments.size() && !arguments[i].is(type)) {
      return fail(no_such_overload());
    }
    ++i;
  }
  return {};
}

// Where each character begins, and the end: positions in CEL count characters.
std::vector<std::size_t> rune_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      starts.push_back(i);
    }
  }
  starts.push_back(text.size());
  return starts;
}

Error out_of_range(std::int64_t index) {
  return invalid_argument("index out of range: " + std::to_string(index));
}

Result<Value> contains(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text}));
  TRY(context.charge_text(a[0].as_text().size()));
  return Value::boolean(a[0].as_text().find(a[1].as_text()) != std::string_view::npos);
}

Result<Value> starts_with(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text}));
  TRY(context.charge_text(a[1].as_text().size()));
  return Value::boolean(a[0].as_text().starts_with(a[1].as_text()));
}

Result<Value> ends_with(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text}));
  TRY(context.charge_text(a[1].as_text().size()));
  return Value::boolean(a[0].as_text().ends_with(a[1].as_text()));
}

Result<Value> matches(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text}));
  TRY(context.charge((a[0].as_text().size() + 1) * (a[1].as_text().size() / 4 + 1)));
  TRY_ASSIGN(auto pattern, schema::Pattern::compile(a[1].as_text()));
  return Value::boolean(pattern->matches(a[0].as_text()));
}

Result<std::shared_ptr<const schema::Pattern>> search_pattern(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text, Type::integer}));
  TRY(context.charge((a[0].as_text().size() + 1) * (a[1].as_text().size() / 4 + 1)));
  return schema::Pattern::compile(a[1].as_text());
}

Result<Value> find_first(Context& context, Arguments a) {
  TRY_ASSIGN(auto pattern, search_pattern(context, a));
  return Value::text(pattern->find(a[0].as_text(), 0).value_or(std::string_view()));
}

// As Go does: matches do not overlap, and an empty one right behind another does not count.
Result<Value> find_all(Context& context, Arguments a) {
  TRY_ASSIGN(auto pattern, search_pattern(context, a));
  const std::string_view text = a[0].as_text();
  const std::int64_t found_max = a.size() == 3 ? a[2].as_integer() : -1;
  const std::vector<std::size_t> starts = rune_starts(text);
  std::vector<Value> found;
  std::size_t from = 0;
  std::optional<std::size_t> last_end;
  while (from <= text.size() && static_cast<std::int64_t>(found.size()) != found_max) {
    // A pattern may have to look at the whole rest for each match.
    TRY(context.charge((text.size() - from) / 64 + 1));
    const std::optional<std::string_view> match = pattern->find(text, from);
    if (!match) {
      break;
    }
    const auto begin = static_cast<std::size_t>(match->data() - text.data());
    const std::size_t end = begin + match->size();
    if (!match->empty() || last_end != begin) {
      found.push_back(Value::text(*match));
    }
    last_end = end;
    const auto next = std::ranges::upper_bound(starts, from);
    from = end > from ? end : next == starts.end() ? text.size() + 1 : *next;
  }
  return Value::list(context.arena, found);
}

template <typename Change>
Result<Value> changed(Context& context, Arguments a, Change change) {
  TRY(expect(a, {Type::text}));
  TRY(context.charge_text(a[0].as_text().size()));
  std::string text(a[0].as_text());
  std::ranges::transform(text, text.begin(), change);
  return Value::text(context.arena, text);
}

Result<Value> lower_ascii(Context& context, Arguments a) {
  return changed(context, a,
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}

Result<Value> upper_ascii(Context& context, Arguments a) {
  return changed(context, a,
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

Result<Value> trim(Context& context, Arguments a) {
  TRY(expect(a, {Type::text}));
  TRY(context.charge_text(a[0].as_text().size()));
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  std::string_view text = a[0].as_text();
  std::size_t begin = text.find_first_not_of(kSpace);
  return Value::text(begin == std::string_view::npos
                         ? std::string_view()
                         : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

Result<Value> split(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text, Type::integer}));
  std::string_view text = a[0].as_text();
  std::string_view separator = a[1].as_text();
  std::int64_t parts_max = a.size() == 3 ? a[2].as_integer() : -1;
  TRY(context.charge(text.size() + 1));
  std::vector<Value> parts;
  if (separator.empty() && parts_max != 0) {
    std::vector<std::size_t> starts = rune_starts(text);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      bool last = parts_max > 0 && static_cast<std::int64_t>(parts.size()) + 1 == parts_max;
      std::size_t end = last ? text.size() : starts[i + 1];
      parts.push_back(Value::text(text.substr(starts[i], end - starts[i])));
      if (last) {
        break;
      }
    }
    return Value::list(context.arena, parts);
  }
  while (parts_max != 0) {
    std::size_t at = static_cast<std::int64_t>(parts.size()) + 1 == parts_max
                         ? std::string_view::npos
                         : text.find(separator);
    parts.push_back(Value::text(text.substr(0, at)));
    if (at == std::string_view::npos) {
      break;
    }
    text.remove_prefix(at + separator.size());
  }
  return Value::list(context.arena, parts);
}

Result<Value> join(Context& context, Arguments a) {
  TRY(expect(a, {Type::list, Type::text}));
  std::string joined;
  for (std::size_t i = 0; i < a[0].size(); ++i) {
    Value item = a[0].item(context.arena, i);
    if (!item.is(Type::text)) {
      return fail(no_such_overload());
    }
    joined.append(i != 0 && a.size() == 2 ? a[1].as_text() : std::string_view())
        .append(item.as_text());
    TRY(context.charge_text(item.as_text().size()));
  }
  TRY(context.charge_text(joined.size()));
  return Value::text(context.arena, joined);
}

Result<Value> replace(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text, Type::text, Type::integer}));
  std::string_view text = a[0].as_text();
  std::string_view from = a[1].as_text();
  std::int64_t left = a.size() == 4 ? a[3].as_integer() : -1;
  std::string result;
  std::size_t at = 0;
  while (left != 0 && at <= text.size()) {
    std::size_t found = from.empty() ? at : text.find(from, at);
    if (found == std::string_view::npos) {
      break;
    }
    result.append(text.substr(at, found - at)).append(a[2].as_text());
    TRY(context.charge_text(result.size() - std::min(result.size(), text.size()) +
                            a[2].as_text().size()));
    at = found + from.size();
    if (from.empty()) {
      result.append(text.substr(at, 1));
      ++at;
    }
    --left;
  }
  result.append(text.substr(std::min(at, text.size())));
  TRY(context.charge_text(text.size() + result.size()));
  return Value::text(context.arena, result);
}

Result<Value> substring(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::integer, Type::integer}));
  TRY(context.charge_text(a[0].as_text().size()));
  std::vector<std::size_t> starts = rune_starts(a[0].as_text());
  auto size = static_cast<std::int64_t>(starts.size()) - 1;
  std::int64_t begin = a[1].as_integer();
  std::int64_t end = a.size() == 3 ? a[2].as_integer() : size;
  if (begin < 0 || begin > size) {
    return fail(out_of_range(begin));
  }
  if (end < begin || end > size) {
    return fail(out_of_range(end));
  }
  std::size_t from = starts[static_cast<std::size_t>(begin)];
  return Value::text(a[0].as_text().substr(from, starts[static_cast<std::size_t>(end)] - from));
}

Result<Value> char_at(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::integer}));
  TRY(context.charge_text(a[0].as_text().size()));
  std::vector<std::size_t> starts = rune_starts(a[0].as_text());
  std::int64_t index = a[1].as_integer();
  auto size = static_cast<std::int64_t>(starts.size()) - 1;
  if (index < 0 || index > size) {
    return fail(out_of_range(index));
  }
  if (index == size) {
    return Value::text("");
  }
  auto at = static_cast<std::size_t>(index);
  return Value::text(a[0].as_text().substr(starts[at], starts[at + 1] - starts[at]));
}

Value rune_index(std::string_view text, std::size_t at) {
  if (at == std::string_view::npos) {
    return Value::integer(-1);
  }
  return Value::integer(static_cast<std::int64_t>(rune_starts(text.substr(0, at)).size()) - 1);
}

Result<Value> index_of(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text, Type::integer}));
  TRY(context.charge_text(a[0].as_text().size()));
  std::vector<std::size_t> starts = rune_starts(a[0].as_text());
  std::int64_t from = a.size() == 3 ? a[2].as_integer() : 0;
  if (from < 0 || from >= static_cast<std::int64_t>(starts.size())) {
    return from < 0 ? Result<Value>(fail(out_of_range(from))) : Value::integer(-1);
  }
  return rune_index(a[0].as_text(),
                    a[0].as_text().find(a[1].as_text(), starts[static_cast<std::size_t>(from)]));
}

Result<Value> last_index_of(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::text}));
  TRY(context.charge_text(a[0].as_text().size()));
  return rune_index(a[0].as_text(), a[0].as_text().rfind(a[1].as_text()));
}

Result<Value> reverse(Context& context, Arguments a) {
  TRY(expect(a, {Type::text}));
  TRY(context.charge_text(a[0].as_text().size()));
  std::vector<std::size_t> starts = rune_starts(a[0].as_text());
  std::string result;
  for (std::size_t i = starts.size() - 1; i-- > 0;) {
    result.append(a[0].as_text().substr(starts[i], starts[i + 1] - starts[i]));
  }
  return Value::text(context.arena, result);
}

std::string plain_text(Context& context, const Value& value) {
  json::Value as_json = value.to_json(context.arena);
  if (as_json.is_string()) {
    return std::string(as_json.as_string());
  }
  return show(as_json);
}

// %s %d %f %e %x %%, with a precision for the floating forms.
Result<Value> format(Context& context, Arguments a) {
  TRY(expect(a, {Type::text, Type::list}));
  std::string_view text = a[0].as_text();
  std::string result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result.push_back(text[i]);
      continue;
    }
    std::string precision;
    ++i;
    while (i < text.size() && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9')) &&
           precision.size() < 4) {
      precision.push_back(text[i++]);
    }
    if (i < text.size() && text[i] == '%') {
      result.push_back('%');
      continue;
    }
    if (i >= text.size() || next >= a[1].size()) {
      return fail(invalid_argument("index " + std::to_string(next) + " out of range"));
    }
    Value value = a[1].item(context.arena, next++);
    char form = text[i];
    if (form == 's' || (form == 'd' && value.is_number())) {
      result += plain_text(context, value);
    } else if ((form == 'f' || form == 'e') && value.is_number()) {
      std::array<char, 512> buffer{};
      int digits = precision.size() > 1 ? std::atoi(precision.c_str() + 1) : 6;
      int length = std::snprintf(buffer.data(), buffer.size(), form == 'f' ? "%.*f" : "%.*e",
                                 digits, value.to_real());
      result.append(
          buffer.data(),
          std::min<std::size_t>(static_cast<std::size_t>(std::max(length, 0)), buffer.size() - 1));
    } else if (form == 'x' && value.is(Type::integer)) {
      std::array<char, 32> buffer{};
      int length = std::snprintf(buffer.data(), buffer.size(), "%llx",
                                 static_cast<unsigned long long>(value.as_unsigned()));
      result.append(buffer.data(), static_cast<std::size_t>(length));
    } else {
      return fail(
          invalid_argument("could not parse formatting clause: unrecognized formatting clause \"" +
                           std::string(1, form) + "\""));
    }
    TRY(context.charge_text(result.size() / 4));
  }
  TRY(context.charge_text(result.size()));
  return Value::text(context.arena, result);
}

}  // namespace

std::span<const Function> text_functions() {
  static const std::array<Function, 18> kFunctions = {{
      {.name = "contains",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::text,
       .call = contains},
      {.name = "startsWith", .arguments_min = 2, .arguments_max = 2, .call = starts_with},
      {.name = "endsWith", .arguments_min = 2, .arguments_max = 2, .call = ends_with},
      {.name = "matches", .global = true, .arguments_min = 2, .arguments_max = 2, .call = matches},
      {.name = "find", .arguments_min = 2, .arguments_max = 2, .call = find_first},
      {.name = "findAll", .arguments_min = 2, .arguments_max = 3, .call = find_all},
      {.name = "lowerAscii", .call = lower_ascii},
      {.name = "upperAscii", .call = upper_ascii},
      {.name = "trim", .call = trim},
      {.name = "split", .arguments_min = 2, .arguments_max = 3, .call = split},
      {.name = "join", .arguments_min = 1, .arguments_max = 2, .call = join},
      {.name = "replace", .arguments_min = 3, .arguments_max = 4, .call = replace},
      {.name = "substring", .arguments_min = 2, .arguments_max = 3, .call = substring},
      {.name = "charAt", .arguments_min = 2, .arguments_max = 2, .call = char_at},
      {.name = "indexOf",
       .arguments_min = 2,
       .arguments_max = 3,
       .first = Type::text,
       .call = index_of},
      {.name = "lastIndexOf",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::text,
       .call = last_index_of},
      {.name = "reverse", .first = Type::text, .call = reverse},
      {.name = "format", .arguments_min = 2, .arguments_max = 2, .call = format},
  }};
  return kFunctions;
}

}  // namespace codeflare::apiserver::cel
