#include "node/holder/address_pool.h"

namespace codeflare::node {

bool AddressPool::can_be_given(Ipv4 address, const Ipv4Block& part) const {
  // Some programs take the ends of a block for "this network" and "everybody".
  const std::uint32_t index = address.value - part.base.value;
  return part.contains(address) && block_.contains(address) && address != gateway_ && index != 0 &&
         index != part.size() - 1;
}

Result<Ipv4> AddressPool::take(const std::string& uid, const Ipv4Block& part) {
  if (const auto known = by_pod_.find(uid); known != by_pod_.end()) {
    return known->second;
  }
  const std::uint32_t size = part.size();
  const std::uint32_t begin = part.contains(last_) ? last_.value - part.base.value + 1 : 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Ipv4 address{part.base.value + (begin + i) % size};
    if (can_be_given(address, part) && !by_address_.contains(address)) {
      last_ = address;
      by_pod_.emplace(uid, address);
      by_address_.emplace(address, uid);
      return address;
    }
  }
  return fail(resource_exhausted("no address is left in " + part.to_string()));
}

Result<void> AddressPool::put_back(const std::string& uid, Ipv4 address) {
  const auto taken = by_address_.find(address);
  if (!can_be_given(address, block_) || (taken != by_address_.end() && taken->second != uid)) {
    return fail(conflict("address " + address.to_string() + " cannot be that of pod " + uid));
  }
  release(uid);
  by_pod_.emplace(uid, address);
  by_address_.emplace(address, uid);
  return {};
}

void AddressPool::release(const std::string& uid) {
  if (const auto known = by_pod_.find(uid); known != by_pod_.end()) {
    by_address_.erase(known->second);
    by_pod_.erase(known);
  }
}

std::optional<Ipv4> AddressPool::of(const std::string& uid) const {
  const auto known = by_pod_.find(uid);
  return known == by_pod_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::string> AddressPool::owner(Ipv4 address) const {
  const auto known = by_address_.find(address);
  return known == by_address_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace codeflare::node
