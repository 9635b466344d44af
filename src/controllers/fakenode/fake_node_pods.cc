#include "controllers/fakenode/fake_node_pods.h"

namespace codeflare::controllers::fakenode {

namespace {

constexpr std::uint32_t kAddresses = 256 * 254;  // none that ends in .0 or .255

}  // namespace

void FakeNodePods::follow(runtime::Informer& pods) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

const FakeNodePods::Entry& FakeNodePods::enter(const model::Pod& pod, WallTime now) {
  const bool over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  auto [at, fresh] = entries_.try_emplace(pod.metadata.uid);
  Entry& entry = at->second;
  if (fresh) {
    entry.bound = pod.status.start_time.value_or(now);
    entry.node = pod.spec.node_name;
    entry.key = pod.metadata.key();
    by_node_[entry.node].insert(entry.key);
    if (!pod.spec.host_network && !over) {
      entry.address = pod.status.pod_ip.empty() ? new_address() : pod.status.pod_ip;
      taken_.insert_or_assign(entry.address, pod.metadata.uid);
    }
  } else if (over) {
    free_address(at->first, entry);
  }
  return entry;
}

bool FakeNodePods::ended(std::string_view uid) {
  auto found = entries_.find(uid);
  if (found == entries_.end()) {
    return false;
  }
  free_address(found->first, found->second);
  return true;
}

const std::set<model::ObjectKey>& FakeNodePods::pods_on(std::string_view node) const {
  static const std::set<model::ObjectKey> kNone;
  auto found = by_node_.find(node);
  return found == by_node_.end() ? kNone : found->second;
}

void FakeNodePods::change(const runtime::ObjectChange& change) {
  if (change.now != nullptr && change.initial) {
    const std::string address = change.now->string_at({"status", "podIP"});
    if (!address.empty()) {
      taken_.insert_or_assign(address, std::string(change.now->uid()));
    }
  }
  // Gone, or another one of the same name.
  if (change.old == nullptr || (change.now != nullptr && change.now->uid() == change.old->uid())) {
    return;
  }
  auto found = entries_.find(change.old->uid());
  if (found == entries_.end()) {
    return;
  }
  free_address(found->first, found->second);
  if (auto node = by_node_.find(found->second.node); node != by_node_.end()) {
    node->second.erase(found->second.key);
    if (node->second.empty()) {
      by_node_.erase(node);
    }
  }
  entries_.erase(found);
}

void FakeNodePods::free_address(const std::string& uid, Entry& entry) {
  if (auto taken = taken_.find(entry.address); taken != taken_.end() && taken->second == uid) {
    taken_.erase(taken);
  }
  entry.address.clear();
}

// Empty when all are taken: more pods than a node network of this size could have.
std::string FakeNodePods::new_address() {
  for (std::uint32_t tries = 0; tries < kAddresses; ++tries) {
    const std::uint32_t number = next_;
    next_ = (next_ + 1) % kAddresses;
    std::string address =
        "10.244." + std::to_string(number / 254) + "." + std::to_string(number % 254 + 1);
    if (!taken_.contains(address)) {
      return address;
    }
  }
  return {};
}

}  // namespace codeflare::controllers::fakenode
