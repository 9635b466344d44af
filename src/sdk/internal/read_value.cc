#include "sdk/internal/read_value.h"

#include "base/go_duration.h"
#include "json/write.h"
#include "model/quantity.h"

#include <algorithm>
#include <charconv>

namespace codeflare::sdk {

namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

// Numbers and text alike.
std::optional<std::string_view> scalar(const json::Value& value) {
  if (value.is_string()) {
    return value.as_string();
  }
  return value.is_number() ? std::optional(value.number()) : std::nullopt;
}

}  // namespace

std::nullopt_t ValueReader::wrong(const json::Value& value, std::string problem, std::string fix) {
  faults_.push_back({field_, json::to_text(value), std::move(problem), std::move(fix)});
  return std::nullopt;
}

std::optional<std::string> ValueReader::text(const json::Value& value) {
  if (value.is_string()) {
    return std::string(value.as_string());
  }
  return wrong(value, "is not text", "give text in quotes");
}

std::optional<std::int64_t> ValueReader::integer(const json::Value& value) {
  const std::optional<std::int64_t> number =
      value.is_string() ? parse_integer(value.as_string()) : value.to_int64();
  return number ? number : wrong(value, "is not a whole number", "give a number such as 2");
}

std::optional<bool> ValueReader::boolean(const json::Value& value) {
  if (value.is_boolean()) {
    return value.as_bool();
  }
  if (value.is_string() && (value.as_string() == "true" || value.as_string() == "false")) {
    return value.as_string() == "true";
  }
  return wrong(value, "is not a boolean", "give true or false");
}

std::optional<std::string> ValueReader::quantity(const json::Value& value,
                                                 std::string_view bare_unit, std::string fix) {
  const std::optional<std::string_view> given = scalar(value);
  if (!given) {
    return wrong(value, "is not a quantity", std::move(fix));
  }
  std::string text(*given);
  if (value.is_number() || is_digits(text)) {
    text += bare_unit;
  }
  const Result<model::Quantity> parsed = model::Quantity::parse(text);
  if (!parsed) {
    return wrong(value, "is not a quantity", std::move(fix));
  }
  if (parsed->sign() < 0) {
    return wrong(value, "is negative", std::move(fix));
  }
  return text;
}

std::optional<std::string> ValueReader::cpu(const json::Value& value) {
  return quantity(value, "", "give CPUs such as 2, 0.5 or 500m");
}

std::optional<std::string> ValueReader::memory(const json::Value& value) {
  return quantity(value, "G", "give an amount such as 8G or 512Mi; a bare number is gigabytes");
}

std::optional<std::int64_t> ValueReader::seconds(const json::Value& value) {
  constexpr const char* kFix = "give a time such as 90m or 6h; a bare number is seconds";
  const std::optional<std::string_view> given = scalar(value);
  if (!given) {
    return wrong(value, "is not a time", kFix);
  }
  if (const std::optional<std::int64_t> bare = parse_integer(*given)) {
    return *bare >= 0 ? bare : wrong(value, "is negative", kFix);
  }
  const std::optional<Duration> duration = go_duration(*given);
  if (!duration) {
    return wrong(value, "is not a time", kFix);
  }
  const std::int64_t whole = std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
  return whole > 0 ? std::optional(whole) : wrong(value, "is less than a second", kFix);
}

std::optional<model::StringMap> ValueReader::pairs(const json::Value& value) {
  model::StringMap map;
  for (const json::Value& item : value.items()) {
    const json::Value* name = item.find("name");
    const json::Value* text = item.find("value");
    if (name == nullptr || !name->is_string() || text == nullptr || !scalar(*text)) {
      return wrong(item, "is not a name with a value", "give a map of names to values");
    }
    map.insert_or_assign(std::string(name->as_string()), std::string(*scalar(*text)));
  }
  return map;
}

std::optional<model::StringMap> ValueReader::text_map(const json::Value& value) {
  if (value.is_array()) {
    return pairs(value);
  }
  if (!value.is_object()) {
    return wrong(value, "is not a map", "give a map of names to values");
  }
  model::StringMap map;
  for (const json::Member& member : value.members()) {
    const std::optional<std::string_view> text = scalar(member.value);
    if (!text) {
      return wrong(member.value, "is not text (key " + std::string(member.key) + ")",
                   "give text in quotes");
    }
    map.insert_or_assign(std::string(member.key), std::string(*text));
  }
  return map;
}

std::optional<model::StringMap> ValueReader::amount_map(const json::Value& value) {
  const std::size_t before = faults_.size();
  std::optional<model::StringMap> map = text_map(value);
  if (!map) {
    return map;
  }
  for (const auto& [key, text] : *map) {
    const std::optional<std::int64_t> amount = parse_integer(text);
    if (!amount || *amount < 0) {
      faults_.push_back({field_, key + "=" + text, "is not a number of devices", "give 0 or more"});
    }
  }
  return faults_.size() == before ? map : std::nullopt;
}

std::optional<std::vector<std::string>> ValueReader::text_list(const json::Value& value) {
  if (!value.is_array()) {
    return wrong(value, "is not a list", "give a list of texts");
  }
  std::vector<std::string> list;
  for (const json::Value& item : value.items()) {
    if (!item.is_string()) {
      return wrong(item, "is not text", "give a list of texts");
    }
    list.emplace_back(item.as_string());
  }
  return list;
}

std::optional<model::RawJson> ValueReader::object_list(const json::Value& value) {
  if (!value.is_array() ||
      !std::ranges::all_of(value.items(), [](const json::Value& i) { return i.is_object(); })) {
    return wrong(value, "is not a list of objects", "give objects as Kubernetes writes them");
  }
  return value.size() == 0 ? model::RawJson() : model::RawJson{json::to_text(value)};
}

std::optional<model::RawJson> ValueReader::object(const json::Value& value) {
  if (!value.is_object()) {
    return wrong(value, "is not an object", "give a pod spec as Kubernetes writes it");
  }
  return value.size() == 0 ? model::RawJson() : model::RawJson{json::to_text(value)};
}

std::optional<Queueing> ValueReader::queueing(const json::Value& value) {
  for (const Queueing each : {Queueing::appwrapper, Queueing::kueue, Queueing::none}) {
    if (value.is_string() && value.as_string() == to_string(each)) {
      return each;
    }
  }
  return wrong(value, "is not a way of queueing", "give appwrapper, kueue or none");
}

}  // namespace codeflare::sdk
