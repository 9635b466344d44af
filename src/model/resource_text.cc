#include "model/resource_text.h"

#include <array>
#include <cstdint>
#include <optional>

namespace codeflare::model {

namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t bytes;
};

constexpr std::int64_t kKi = 1024;
constexpr std::array kBinary{Unit{"Pi", kKi* kKi* kKi* kKi* kKi}, Unit{"Ti", kKi* kKi* kKi* kKi},
                             Unit{"Gi", kKi* kKi* kKi}, Unit{"Mi", kKi* kKi}, Unit{"Ki", kKi}};
constexpr std::array kDecimal{Unit{"P", 1'000'000'000'000'000}, Unit{"T", 1'000'000'000'000},
                              Unit{"G", 1'000'000'000}, Unit{"M", 1'000'000}, Unit{"k", 1000}};

// 15 and 10 are "1.5", 20 and 10 "2".
std::string decimals(std::int64_t number, std::int64_t base) {
  std::string text = std::to_string(number / base);
  std::string rest;
  for (std::int64_t left = number % base, digit = base / 10; left != 0; digit /= 10) {
    rest += static_cast<char>('0' + left / digit);
    left %= digit;
  }
  return rest.empty() ? text : text + "." + rest;
}

// In the largest unit that takes one decimal at most and loses nothing.
template <std::size_t N>
std::optional<std::string> exact(std::int64_t bytes, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (bytes < unit.bytes || bytes / unit.bytes >= kKi) {
      continue;
    }
    const std::int64_t rest = bytes % unit.bytes;
    // In two factors: ten times a Pi is more than 64 bits hold of many.
    if (unit.bytes % 5 == 0 ? rest % (unit.bytes / 10) == 0 : rest * 2 % unit.bytes == 0) {
      const std::int64_t tenths = rest == 0 ? 0 : rest / (unit.bytes / 10);
      return decimals(bytes / unit.bytes * 10 + tenths, 10).append(unit.suffix);
    }
  }
  return std::nullopt;
}

std::string rounded(std::int64_t bytes) {
  for (const Unit& unit : kBinary) {
    if (bytes < unit.bytes) {
      continue;
    }
    const std::int64_t whole = bytes / unit.bytes;
    const std::int64_t tenths = (bytes % unit.bytes / (unit.bytes / kKi) * 10 + kKi / 2) / kKi;
    return whole < 100 ? decimals(whole * 10 + tenths, 10).append(unit.suffix)
                       : std::to_string(whole + (tenths >= 5 ? 1 : 0)).append(unit.suffix);
  }
  return std::to_string(bytes);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 0) {
    return "-" + bytes_text(bytes == INT64_MIN ? INT64_MAX : -bytes);
  }
  if (const auto binary = exact(bytes, kBinary)) {
    return *binary;
  }
  const auto decimal = exact(bytes, kDecimal);
  return decimal ? *decimal : rounded(bytes);
}

std::string_view without(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string_view plain_name(std::string_view resource) {
  return without(without(resource, "limits."), "requests.");
}

}  // namespace

std::string human_amount(std::string_view resource, const Quantity& amount) {
  const std::string_view name = plain_name(resource);
  if (name == "cpu") {
    const std::int64_t milli = amount.milli_value();
    return milli < 0 ? "-" + decimals(-milli, 1000) : decimals(milli, 1000);
  }
  if (name == "memory" || name == "ephemeral-storage" || name == "storage") {
    return bytes_text(amount.value());
  }
  return amount.to_string();
}

std::string human_resource(std::string_view resource, const Quantity& amount) {
  const std::string_view name = plain_name(resource);
  std::string text = human_amount(resource, amount) + " ";
  const bool one = amount == Quantity(1);
  if (name == "cpu") {
    text += one ? "CPU" : "CPUs";
  } else if (name == "pods") {
    text += one ? "pod" : "pods";
  } else {
    text += name;
  }
  return resource.starts_with("limits.") ? text + " (limits)" : text;
}

}  // namespace codeflare::model
