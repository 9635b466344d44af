#pragma once

#include "base/time.h"
#include "model/gvk.h"
#include "model/pod.h"
#include "runtime/informer.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::fakenode {

// Memory of what fake nodes run: when a pod was first seen there (statuses keep whole seconds only,
// and pods may be shorter), its address in 10.244.0.0/16, and which pods a node has.
class FakeNodePods {
 public:
  // Forgets pods that are gone and knows which addresses are taken from the first list on.
  void follow(runtime::Informer& pods);

  struct Entry {
    WallTime bound{};
    std::string address;
    std::string node;
    model::ObjectKey key;
  };
  // The same answer for the same pod, as long as it is there.
  const Entry& enter(const model::Pod& pod, WallTime now);
  // The pod has ended: others may have its address now. False when it was never entered.
  bool ended(std::string_view uid);

  const std::set<model::ObjectKey>& pods_on(std::string_view node) const;
  std::size_t size() const { return entries_.size(); }

 private:
  void change(const runtime::ObjectChange& change);
  std::string new_address();
  void free_address(const std::string& uid, Entry& entry);

  std::map<std::string, Entry, std::less<>> entries_;  // by UID
  std::map<std::string, std::set<model::ObjectKey>, std::less<>> by_node_;
  std::map<std::string, std::string, std::less<>> taken_;  // address to UID
  std::uint32_t next_ = 0;
};

}  // namespace codeflare::controllers::fakenode
