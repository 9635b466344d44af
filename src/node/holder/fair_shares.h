#pragma once

#include "node/holder/ipv4.h"

#include <cstddef>
#include <list>
#include <map>
#include <optional>

namespace codeflare::node {

// Shares of a bounded number of slots (connections, sessions) by client. One client may hold all of
// them while nobody else wants one. When they are full, a newcomer replaces the longest idle slot
// of the client that holds the most, so no client can keep the others out.
template <typename Id>
class FairShares {
 public:
  explicit FairShares(std::size_t slots_max) : slots_max_(slots_max) {}

  bool full() const { return slots_.size() >= slots_max_; }
  std::size_t size() const { return slots_.size(); }

  void add(Ipv4 client, const Id& id) {
    std::list<Id>& mine = by_client_[client];
    slots_.emplace(id, Slot{client, mine.insert(mine.end(), id)});
  }

  // The slot was in use just now.
  void touch(const Id& id) {
    const auto slot = slots_.find(id);
    if (slot != slots_.end()) {
      std::list<Id>& mine = by_client_.find(slot->second.client)->second;
      mine.splice(mine.end(), mine, slot->second.at);
    }
  }

  void remove(const Id& id) {
    const auto slot = slots_.find(id);
    if (slot == slots_.end()) {
      return;
    }
    const auto client = by_client_.find(slot->second.client);
    client->second.erase(slot->second.at);
    if (client->second.empty()) {
      by_client_.erase(client);
    }
    slots_.erase(slot);
  }

  // The slot to free for `newcomer`; none while there is room. Among equals the newcomer pays
  // itself: two clients would otherwise take slots from each other for every connection.
  std::optional<Id> victim(Ipv4 newcomer) const {
    if (!full() || by_client_.empty()) {
      return std::nullopt;
    }
    auto largest = by_client_.find(newcomer);
    for (auto client = by_client_.begin(); client != by_client_.end(); ++client) {
      if (largest == by_client_.end() || client->second.size() > largest->second.size()) {
        largest = client;
      }
    }
    return largest->second.front();
  }

 private:
  struct Slot {
    Ipv4 client;
    typename std::list<Id>::iterator at;
  };
  std::size_t slots_max_;
  std::map<Id, Slot> slots_;
  std::map<Ipv4, std::list<Id>> by_client_;  // the longest idle first
};

}  // namespace codeflare::node
