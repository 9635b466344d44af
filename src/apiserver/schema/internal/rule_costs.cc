#include "apiserver/schema/internal/rule_costs.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace codeflare::apiserver::schema::internal {
namespace {

constexpr std::uint64_t kExpressionMax = 10'000'000;
constexpr std::uint64_t kDefinitionMax = 100'000'000;
constexpr std::uint64_t kWorthNaming = 1'000'000;  // a hundredth of what all may cost
constexpr std::size_t kNamedMax = 4;

std::string exceeded(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  char shown[32] = "more than 100x";
  if (factor <= 100) {
    std::snprintf(shown, sizeof shown, factor < 1.5 ? "%fx" : "%.1fx", factor);
  }
  return std::string(what) + " exceeds budget by factor of " + shown +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
         "arrays, maps, and strings are declared)";
}

}  // namespace

void RuleCosts::add(std::string path, std::string_view what, std::uint64_t cost,
                    FieldErrors& errors) {
  if (cost > kExpressionMax) {
    errors.forbidden(path, exceeded(what, cost, kExpressionMax));
  }
  total_ = cost > std::numeric_limits<std::uint64_t>::max() - total_
               ? std::numeric_limits<std::uint64_t>::max()
               : total_ + cost;
  if (cost < kWorthNaming) {
    return;
  }
  auto at =
      std::ranges::find_if(most_expensive_, [&](const Rule& rule) { return rule.cost < cost; });
  most_expensive_.insert(at, Rule{std::move(path), cost});
  most_expensive_.resize(std::min(most_expensive_.size(), kNamedMax));
}

void RuleCosts::check_total(const std::string& path, FieldErrors& errors) const {
  if (total_ <= kDefinitionMax) {
    return;
  }
  for (const Rule& rule : most_expensive_) {
    errors.forbidden(rule.path,
                     "contributed to estimated rule cost total exceeding cost limit for entire "
                     "OpenAPIv3 schema");
  }
  errors.forbidden(path, exceeded("x-kubernetes-validations estimated rule cost total for entire "
                                  "OpenAPIv3 schema",
                                  total_, kDefinitionMax));
}

}  // namespace codeflare::apiserver::schema::internal
