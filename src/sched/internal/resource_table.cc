#include "sched/internal/resource_table.h"

#include <algorithm>
#include <bit>

namespace codeflare::sched {

namespace {

// Far more than any cluster offers; rows stay small even if people ask for what nobody has.
constexpr Index kAskedNamesMax = 256;

// Quotas may limit these later.
bool is_usual(std::string_view name) {
  if (name.starts_with("limits.")) {
    name.remove_prefix(7);
  }
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods";
}

}  // namespace

ResourceTable::ResourceTable(const std::vector<std::string>& pack) {
  for (const std::string& name : pack) {
    intern(name);
  }
  pack_size_ = size();
}

Index ResourceTable::intern(std::string_view name) {
  const auto [entry, added] = numbers_.try_emplace(std::string(name), size());
  if (added) {
    names_.push_back(entry->first);
  }
  return entry->second;
}

Index ResourceTable::find(std::string_view name) const {
  const auto entry = numbers_.find(std::string(name));
  return entry == numbers_.end() ? kNone : entry->second;
}

std::size_t ResourceTable::width() const {
  return std::max(Matrix::kWidthMin, std::bit_ceil(std::size_t{size()}));
}

Request ResourceTable::collect(const Resources& resources) {
  Request request;
  request.reserve(resources.size());
  for (const Resource& resource : resources) {
    if (resource.amount != 0) {
      request.push_back({intern(resource.name), resource.amount});
    }
  }
  std::sort(request.begin(), request.end(),
            [](const Part& a, const Part& b) { return a.resource < b.resource; });
  return request;
}

Result<Request> ResourceTable::request(const Resources& resources) {
  for (const Resource& resource : resources) {
    if (resource.amount < 0 || resource.amount > kAmountMax) {
      return fail(invalid_argument("resource " + resource.name + ": " +
                                   std::to_string(resource.amount) + " is not between 0 and " +
                                   std::to_string(kAmountMax)));
    }
  }
  Index unknown = 0;
  for (const Resource& resource : resources) {
    if (resource.amount == 0 || find(resource.name) != kNone) {
      continue;
    }
    if (size() + ++unknown > kAskedNamesMax) {
      return fail(resource_exhausted("resource " + resource.name +
                                     ": no node has it, and too many other unknown resources "
                                     "were requested"));
    }
  }
  Request request = collect(resources);
  const auto twice =
      std::adjacent_find(request.begin(), request.end(),
                         [](const Part& a, const Part& b) { return a.resource == b.resource; });
  if (twice != request.end()) {
    return fail(invalid_argument("resource " + name(twice->resource) + " is listed twice"));
  }
  return request;
}

Request ResourceTable::observed(const Resources& resources) {
  return clamped(collect(resources));
}

Request ResourceTable::used(const Resources& resources) {
  Resources known = resources;
  std::erase_if(known, [&](const Resource& resource) {
    return find(resource.name) == kNone && !is_usual(resource.name);
  });
  return clamped(collect(known));
}

Request ResourceTable::clamped(const Request& request) {
  Request sum;
  for (const Part& part : request) {
    const Amount amount = std::clamp<Amount>(part.amount, 0, kAmountMax);
    if (!sum.empty() && sum.back().resource == part.resource) {
      sum.back().amount = std::min(kAmountMax, sum.back().amount + amount);
    } else if (amount != 0) {
      sum.push_back({part.resource, amount});
    }
  }
  return sum;
}

Resources ResourceTable::named(const Request& request) const {
  Resources resources;
  resources.reserve(request.size());
  for (const Part& part : request) {
    resources.push_back({name(part.resource), part.amount});
  }
  return resources;
}

std::int64_t times(const Amount* available, const Request& request, std::int64_t most) {
  for (const Part& part : request) {
    const Amount have = available[part.resource];
    if (have < part.amount) {
      return 0;
    }
    // A division costs more than the whole comparison: only where it can matter.
    if (most > 1) {
      most = std::min(most, have / part.amount);
    }
  }
  return most;
}

void add(Request& sum, const Request& request, std::int64_t factor) {
  for (const Part& part : request) {
    auto place = std::lower_bound(
        sum.begin(), sum.end(), part.resource,
        [](const Part& existing, Index resource) { return existing.resource < resource; });
    if (place == sum.end() || place->resource != part.resource) {
      place = sum.insert(place, {part.resource, 0});
    }
    place->amount += part.amount * factor;
    if (place->amount == 0) {
      sum.erase(place);
    }
  }
}

Amount amount_of(const Request& request, Index resource) {
  for (const Part& part : request) {
    if (part.resource == resource) {
      return part.amount;
    }
  }
  return 0;
}

}  // namespace codeflare::sched
