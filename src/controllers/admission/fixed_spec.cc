#include "controllers/admission/fixed_spec.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace codeflare::admission {

namespace {

// All else stays: the items were judged once, and places were found for them. Nothing acts on
// `service`.
constexpr std::array<std::string_view, 3> kChangeable = {"priority", "suspend", "service"};

const json::Value& spec_of(const json::Value& object) {
  static const json::Value kNothing = json::Value::object();
  const json::Value* spec = object.find("spec");
  return spec == nullptr ? kNothing : *spec;
}

std::string problem(std::string_view member) {
  const std::string name(member);
  return "spec." + name + ": " + name +
         " cannot be changed; delete the AppWrapper and create it again";
}

}  // namespace

std::vector<std::string> spec_changes(const json::Value& object, const json::Value& old) {
  const json::Value& now = spec_of(object);
  const json::Value& before = spec_of(old);
  std::vector<std::string> problems;
  const auto fixed = [](std::string_view member) {
    return std::ranges::find(kChangeable, member) == kChangeable.end();
  };
  for (const json::Member& member : now.members()) {
    const json::Value* then = before.find(member.key);
    if (fixed(member.key) && (then == nullptr || !json::equal(member.value, *then))) {
      problems.push_back(problem(member.key));
    }
  }
  for (const json::Member& member : before.members()) {
    if (fixed(member.key) && now.find(member.key) == nullptr) {
      problems.push_back(problem(member.key));
    }
  }
  return problems;
}

}  // namespace codeflare::admission
