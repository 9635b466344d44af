#pragma once

#include "json/value.h"
#include "model/pod.h"
#include "model/resource_list.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Which pods a ResourceQuota is about.
namespace codeflare::queue {

// The traits that its scopes look at.
struct PodTraits {
  bool terminating = false;  // it has an activeDeadlineSeconds
  bool best_effort = false;  // it asks for no cpu or memory, and has no limit of them
  std::string priority_class{};

  friend auto operator<=>(const PodTraits&, const PodTraits&) = default;
};

PodTraits traits_of(const model::PodSpec& spec);

struct QuotaScope {
  enum class Kind : std::uint8_t {
    terminating,
    not_terminating,
    best_effort,
    not_best_effort,
    priority_class
  };
  enum class Operator : std::uint8_t { exists, does_not_exist, in, not_in };
  Kind kind = Kind::terminating;
  Operator op = Operator::exists;     // of priority classes
  std::vector<std::string> values{};  // of in and not_in

  bool matches(const PodTraits& pod) const;
  friend bool operator==(const QuotaScope&, const QuotaScope&) = default;
};

struct QuotaRule {
  model::ResourceList hard{};
  std::vector<QuotaScope> scopes{};  // all must match

  bool concerns(const PodTraits& pod) const;
  friend bool operator==(const QuotaRule&, const QuotaRule&) = default;
};

// Of a ResourceQuota; nothing when it has a scope that is not about these traits.
std::optional<QuotaRule> quota_rule(const json::Value& resource_quota);

}  // namespace codeflare::queue
