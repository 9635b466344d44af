#include "apiserver/kinds/job_policies.h"

#include "apiserver/registry/edit.h"
#include "model/validation.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kRulesMax = 20;
constexpr std::size_t kConditionsMax = 20;
constexpr std::size_t kExitCodesMax = 255;
constexpr std::size_t kIndexesBytesMax = 64u << 10;

// One of a few words; upstream lists them in another way when there is none.
void validate_word(const json::Value& parent, std::string_view key, const std::string& path,
                   const std::vector<std::string>& supported, FieldErrors& errors) {
  const std::string_view word = text_at(parent, key);
  if (word.empty()) {
    std::string list;
    for (const std::string& value : supported) {
      list += (list.empty() ? "" : " ") + quote(value);
    }
    errors.required(child(path, key), "valid values: [" + list + "]");
  } else if (std::ranges::find(supported, word) == supported.end()) {
    errors.not_supported(child(path, key), quote(word), supported);
  }
}

void validate_exit_codes(const json::Value& codes, const std::string& path,
                         const std::set<std::string_view>& containers, FieldErrors& errors) {
  validate_word(codes, "operator", path, {"In", "NotIn"}, errors);
  const std::string_view container = text_at(codes, "containerName");
  if (!absent(codes, "containerName") && !containers.contains(container)) {
    errors.invalid_text(child(path, "containerName"), container,
                        "must be one of the container or initContainer names in the pod template");
  }
  const std::string at = child(path, "values");
  const auto values = items_at(codes, "values");
  if (values.empty()) {
    errors.invalid(at, absent(codes, "values") ? "null" : "[]", "at least one value is required");
  } else if (values.size() > kExitCodesMax) {
    errors.too_many(at, values.size(), kExitCodesMax);
  }
  std::set<std::int64_t> seen;
  bool ordered = true;
  std::optional<std::int64_t> last;
  std::size_t i = 0;
  for (const json::Value& item : values) {
    const std::int64_t value = item.to_int64().value_or(0);
    const std::string here = at_index(at, i++);
    if (value == 0 && text_at(codes, "operator") == "In") {
      errors.invalid(here, "0", "must not be 0 for the In operator");
    }
    if (!seen.insert(value).second) {
      errors.duplicate(here, std::to_string(value));
    }
    ordered = ordered && (!last || *last <= value);
    last = value;
  }
  if (!ordered) {
    errors.invalid(at, show(*codes.find("values")), "must be ordered");
  }
}

void validate_conditions(std::span<const json::Value> conditions, const std::string& path,
                         FieldErrors& errors) {
  if (conditions.size() > kConditionsMax) {
    errors.too_many(path, conditions.size(), kConditionsMax);
  }
  std::size_t i = 0;
  for (const json::Value& condition : conditions) {
    const std::string at = at_index(path, i++);
    const std::string_view type = text_at(condition, "type");
    for (const std::string& complaint : model::check_qualified_name(type)) {
      errors.invalid_text(child(at, "type"), type, complaint);
    }
    validate_word(condition, "status", at, {"False", "True", "Unknown"}, errors);
  }
}

void validate_failure_rule(const json::Value& spec, const json::Value& rule,
                           const std::string& path, const std::set<std::string_view>& containers,
                           FieldErrors& errors) {
  if (text_at(rule, "action") == "FailIndex") {
    if (absent(spec, "backoffLimitPerIndex")) {
      errors.invalid_text(child(path, "action"), "FailIndex",
                          "requires the backoffLimitPerIndex to be set");
    }
  } else {
    validate_word(rule, "action", path, {"Count", "FailIndex", "FailJob", "Ignore"}, errors);
  }
  const bool codes = !absent(rule, "onExitCodes");
  const auto conditions = items_at(rule, "onPodConditions");
  if (codes) {
    validate_exit_codes(object_at(rule, "onExitCodes"), child(path, "onExitCodes"), containers,
                        errors);
  }
  validate_conditions(conditions, child(path, "onPodConditions"), errors);
  if (codes && !conditions.empty()) {
    errors.invalid(path, "", "specifying both OnExitCodes and OnPodConditions is not supported");
  } else if (!codes && conditions.empty()) {
    errors.invalid(path, "", "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

void validate_failure_policy(const json::Value& spec, const std::string& path,
                             FieldErrors& errors) {
  std::set<std::string_view> containers;
  const json::Value& pod = object_at(spec, {"template", "spec"});
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json::Value& container : items_at(pod, list)) {
      containers.insert(text_at(container, "name"));
    }
  }
  const auto rules = items_at(object_at(spec, "podFailurePolicy"), "rules");
  if (rules.size() > kRulesMax) {
    errors.too_many(child(path, "rules"), rules.size(), kRulesMax);
  }
  std::size_t i = 0;
  for (const json::Value& rule : rules) {
    validate_failure_rule(spec, rule, at_index(child(path, "rules"), i++), containers, errors);
  }
}

// "1,3-5": how many indexes it names, or what is wrong with it.
struct Indexes {
  std::int64_t count = 0;
  std::string complaint{};
};

std::string out_of_order(std::int64_t previous, std::int64_t current) {
  return "non-increasing order, previous: " + std::to_string(previous) +
         ", current: " + std::to_string(current);
}

Indexes read_indexes(std::string_view text, std::int64_t completions) {
  Indexes out;
  std::optional<std::int64_t> last;
  while (!text.empty()) {
    const std::string_view interval = text.substr(0, text.find(','));
    const bool more = interval.size() < text.size();
    text.remove_prefix(more ? interval.size() + 1 : interval.size());
    if (std::ranges::count(interval, '-') > 1) {
      return {.complaint = "the fragment " + quote(interval) +
                           " violates the requirement that an index interval can have at most two "
                           "parts separated by '-'"};
    }
    const std::string_view from = interval.substr(0, interval.find('-'));
    const std::string_view to =
        from.size() == interval.size() ? from : interval.substr(from.size() + 1);
    std::vector<std::int64_t> ends;
    for (std::string_view digits : {from, to}) {
      std::int64_t value = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) {
        return {.complaint = "cannot convert string to integer for index: " + quote(digits)};
      }
      if (value >= completions) {
        return {.complaint = "too large index: " + quote(digits)};
      }
      ends.push_back(value);
    }
    if (from.size() < interval.size() && ends[0] >= ends[1]) {
      return {.complaint = out_of_order(ends[0], ends[1])};
    }
    if (last && *last >= ends[0]) {
      return {.complaint = out_of_order(*last, ends[0])};
    }
    out.count += ends[1] - ends[0] + 1;
    last = ends[1];
    if (more && text.empty()) {
      return {.complaint = "cannot convert string to integer for index: \"\""};
    }
  }
  return out;
}

void validate_success_rule(const json::Value& rule, const std::string& path,
                           std::int64_t completions, FieldErrors& errors) {
  const bool has_indexes = !absent(rule, "succeededIndexes");
  const std::optional<std::int64_t> count = integer_at(rule, "succeededCount");
  if (!has_indexes && !count) {
    errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  Indexes indexes;
  if (has_indexes) {
    const std::string at = child(path, "succeededIndexes");
    const std::string_view text = text_at(rule, "succeededIndexes");
    if (text.size() > kIndexesBytesMax) {
      errors.too_long(at, kIndexesBytesMax);
    }
    indexes = read_indexes(text, completions);
    if (!indexes.complaint.empty()) {
      errors.invalid_text(at, text, "error parsing succeededIndexes: " + indexes.complaint);
    }
  }
  if (!count) {
    return;
  }
  const std::string at = child(path, "succeededCount");
  const std::string shown = std::to_string(*count);
  if (*count < 0) {
    errors.invalid(at, shown, "must be greater than or equal to 0");
  }
  if (*count > completions) {
    errors.invalid(at, shown,
                   "must be less than or equal to " + std::to_string(completions) +
                       " (the number of specified completions)");
  }
  if (has_indexes && *count > indexes.count) {
    errors.invalid(at, shown,
                   "must be less than or equal to " + std::to_string(indexes.count) +
                       " (the number of indexes in the specified succeededIndexes field)");
  }
}

void validate_success_policy(const json::Value& spec, const std::string& path,
                             FieldErrors& errors) {
  const json::Value& policy = object_at(spec, "successPolicy");
  if (text_at(spec, "completionMode") != "Indexed") {
    errors.invalid(path, show(policy), "requires indexed completion mode");
    return;
  }
  const auto rules = items_at(policy, "rules");
  if (rules.empty()) {
    errors.required(child(path, "rules"),
                    "at least one rules must be specified when the successPolicy is specified");
  } else if (rules.size() > kRulesMax) {
    errors.too_many(child(path, "rules"), rules.size(), kRulesMax);
  }
  std::size_t i = 0;
  for (const json::Value& rule : rules) {
    validate_success_rule(rule, at_index(child(path, "rules"), i++),
                          integer_at(spec, "completions").value_or(0), errors);
  }
}

}  // namespace

void validate_job_policies(const json::Value& spec, const std::string& path, FieldErrors& errors) {
  const bool failure = !absent(spec, "podFailurePolicy");
  if (failure) {
    validate_failure_policy(spec, child(path, "podFailurePolicy"), errors);
  }
  if (!absent(spec, "successPolicy")) {
    validate_success_policy(spec, child(path, "successPolicy"), errors);
  }
  const std::string_view replacement = text_at(spec, "podReplacementPolicy");
  // A policy about failed pods can't judge those that have not failed yet.
  if (!absent(spec, "podReplacementPolicy") && replacement != "Failed" &&
      (failure || replacement != "TerminatingOrFailed")) {
    errors.not_supported(child(path, "podReplacementPolicy"), quote(replacement),
                         failure ? std::vector<std::string>{"Failed"}
                                 : std::vector<std::string>{"Failed", "TerminatingOrFailed"});
  }
}

}  // namespace codeflare::apiserver
