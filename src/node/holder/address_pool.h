#pragma once

#include "base/result.h"
#include "node/holder/ipv4.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace codeflare::node {

// Which pod has which address of the pod network. An address that was freed comes round again only
// after all others, so that a peer that still believes in it does not meet a stranger. Pure:
// whoever has one keeps it on disk.
class AddressPool {
 public:
  // `gateway` and the ends of the block are never given.
  AddressPool(Ipv4Block block, Ipv4 gateway) : block_(block), gateway_(gateway) {}

  // The pod's address, or a free one of `part`, a block inside ours.
  Result<Ipv4> take(const std::string& uid, const Ipv4Block& part);
  // As it was; fails when another pod has it or it is none of ours.
  Result<void> put_back(const std::string& uid, Ipv4 address);
  void release(const std::string& uid);

  std::optional<Ipv4> of(const std::string& uid) const;
  std::optional<std::string> owner(Ipv4 address) const;
  const std::map<std::string, Ipv4>& all() const { return by_pod_; }

  // The last address that was given: where the search goes on.
  Ipv4 last() const { return last_; }
  void set_last(Ipv4 last) { last_ = last; }

 private:
  bool can_be_given(Ipv4 address, const Ipv4Block& part) const;

  Ipv4Block block_;
  Ipv4 gateway_;
  Ipv4 last_{};
  std::map<std::string, Ipv4> by_pod_;
  std::map<Ipv4, std::string> by_address_;
};

}  // namespace codeflare::node
