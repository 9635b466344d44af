#include "queue/internal/amounts.h"

#include "model/resource_text.h"
#include "sched/explanation.h"

#include <algorithm>
#include <array>

namespace codeflare::queue {

namespace {

// Sums over all pods of a cluster stay far inside 64 bits.
constexpr sched::Amount kAmountMax = sched::Amount{1} << 50;

sched::Resource observed(const std::string& name, const model::Quantity& quantity,
                         const std::string& prefix) {
  const std::int64_t amount = name == "cpu" ? quantity.milli_value() : quantity.value();
  return {prefix + name, std::clamp<sched::Amount>(amount, 0, kAmountMax)};
}

model::Quantity quantity_of(std::string_view resource, sched::Amount amount) {
  const bool milli = resource == "cpu" || resource == "limits.cpu" || resource == "requests.cpu";
  return milli ? model::Quantity::milli(amount) : model::Quantity(amount);
}

bool by_name(const sched::Resource& a, const sched::Resource& b) {
  return a.name < b.name;
}

}  // namespace

sched::Resources observed(const model::ResourceList& list) {
  sched::Resources result;
  result.reserve(list.size() + 1);
  for (const auto& [name, quantity] : list) {
    if (quantity.sign() > 0) {
      result.push_back(observed(name, quantity, ""));
    }
  }
  std::sort(result.begin(), result.end(), by_name);
  return result;
}

sched::Resources observed_limits(const model::ResourceList& limits) {
  sched::Resources result;
  for (const std::string name : {"cpu", "ephemeral-storage", "memory"}) {
    const model::Quantity limit = limits.get(name);
    if (limit.sign() > 0) {
      result.push_back(observed(name, limit, "limits."));
    }
  }
  return result;
}

void add(sched::Resources& sum, const sched::Resources& amounts, int sign) {
  for (const sched::Resource& each : amounts) {
    auto at = std::lower_bound(sum.begin(), sum.end(), each, by_name);
    if (at == sum.end() || at->name != each.name) {
      at = sum.insert(at, {each.name, 0});
    }
    at->amount += sign * each.amount;
    if (at->amount == 0) {
      sum.erase(at);
    }
  }
}

sched::Resources joined(sched::Resources a, const sched::Resources& b) {
  add(a, b, +1);
  return a;
}

sched::Amount amount_of(const sched::Resources& resources, const std::string& name) {
  const auto at = std::ranges::find(resources, name, &sched::Resource::name);
  return at == resources.end() ? 0 : at->amount;
}

std::string quantity_text(const std::string& resource, sched::Amount amount) {
  const std::string_view kind =
      std::string_view(resource).substr(resource.starts_with("limits.") ? 7 : 0);
  std::string binary = sched::amount_text(std::string(kind), amount);
  if (kind != "memory" && kind != "ephemeral-storage") {
    return binary;
  }
  static constexpr std::array kSuffixes{"", "k", "M", "G", "T", "P"};
  std::size_t suffix = 0;
  while (amount != 0 && amount % 1000 == 0 && suffix + 1 < kSuffixes.size()) {
    amount /= 1000;
    ++suffix;
  }
  std::string decimal = std::to_string(amount) + kSuffixes[suffix];
  return decimal.size() < binary.size() ? decimal : binary;
}

std::string human_amount(const std::string& resource, sched::Amount amount) {
  return model::human_amount(resource, quantity_of(resource, amount));
}

std::string human_resource(const std::string& resource, sched::Amount amount) {
  return model::human_resource(resource, quantity_of(resource, amount));
}

std::string amounts_text(const sched::Resources& resources) {
  std::string text;
  for (const sched::Resource& each : resources) {
    if (each.name == "pods" && resources.size() > 1) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + human_resource(each.name, each.amount);
  }
  return text;
}

}  // namespace codeflare::queue
