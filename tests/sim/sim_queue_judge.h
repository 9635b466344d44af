#pragma once

#include "apiserver/store/store.h"
#include "base/clock.h"
#include "model/app_wrapper.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota_subtree.h"
#include "tests/sim/quota_book.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::sim {

// The pods of an AppWrapper as its maker wrote them down, in the order of its pod sets: the judge
// does not ask the queue what it makes of the items.
struct PodSetSize {
  std::int64_t count = 1;       // at a time
  std::int64_t total = 1;       // that have to succeed
  std::int64_t millicores = 0;  // of one
};
inline constexpr std::string_view kSizesAnnotation = "sim.codeflare.dev/pods";
// Runs until somebody ends it.
inline constexpr std::string_view kEndlessAnnotation = "sim.codeflare.dev/endless";
std::string to_text(const std::vector<PodSetSize>& sizes);

// Sees every commit of the API server, past all networks, and knows what must never be seen there:
// work admitted over quota, more on a node than fits, pods bound where nothing was planned or for a
// gang that is planned in part, objects created twice or without a plan, work that goes on after
// its end, and places given back while something is left.
class QueueJudge {
 public:
  using Say = std::function<void(const std::string&)>;
  QueueJudge(const Clock& clock, Say say) : clock_(clock), say_(std::move(say)) {}

  // From its first commit on.
  void follow(apiserver::Store& store);

  struct Work {
    model::AppWrapper object;
    std::vector<PodSetSize> sets;
    // Of the dispatch under way:
    std::map<std::string, int> made;               // wrapped objects, how often
    std::vector<std::set<std::string>> pods;       // that ever were, by set
    std::vector<std::set<std::string>> succeeded;  // of these
    // A node was lost, or pods have successors, which the queue may see before their end: from then
    // on pods may be elsewhere than first planned.
    bool moved = false;

    std::string name() const { return object.metadata.name; }
    bool holds() const { return object.status.plan.has_value(); }
    // Pods of the set that are still to come or to end.
    std::int64_t needed(std::size_t set) const;
  };
  const std::map<std::string, Work>& works() const { return works_; }  // by uid
  const std::map<model::ObjectKey, model::Pod>& pods() const { return pods_; }
  const std::map<std::string, model::Node>& nodes() const { return nodes_; }
  const std::map<model::ObjectKey, model::QuotaSubtree>& quotas() const { return quotas_; }
  // Wrapped objects that exist, by the AppWrapper's uid: "jobs.batch a".
  const std::map<std::string, std::set<std::string>>& items() const { return items_; }

  // Writes of all of these.
  std::uint64_t commits() const { return commits_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void commit(std::string_view collection, const apiserver::Event& event);
  void wrapper_changed(const apiserver::Event& event);
  void pod_changed(const apiserver::Event& event);
  void node_changed(const apiserver::Event& event);
  void item_changed(std::string_view collection, const apiserver::Event& event);

  void check_status(Work& work, const model::AppWrapperStatus& before);
  void admitted(Work& work);
  void check_whole(const Work& work);
  void check_quota(const Work& work);
  void given_back(const Work& work, const model::AppWrapperStatus& before);
  void check_nothing_runs(const Work& work, const std::string& when);
  void item_made(const std::string& uid, const std::string& what);
  void check_binding(const model::Pod& pod);
  model::ResourceList used_on(const std::string& node) const;
  std::int64_t siblings_on(const std::string& node, const model::Pod& pod) const;
  bool has_place(const Work& work, const model::Pod& pod) const;
  void check_room(const model::Node& node, const model::Pod& newcomer);
  void check_place(Work& work, const model::Pod& pod);

  void count(const std::string& what) { counts_[what] += 1; }
  void violation(const std::string& what);

  const Clock& clock_;
  Say say_;
  std::map<std::string, Work> works_;
  std::map<model::ObjectKey, model::Pod> pods_;
  std::map<std::string, model::Node> nodes_;
  std::map<model::ObjectKey, model::QuotaSubtree> quotas_;
  std::map<std::string, std::set<std::string>> items_;
  QuotaBook book_;
  std::uint64_t commits_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> violations_;
};

// Neither succeeded nor failed: it takes room on its node.
bool is_active(const model::Pod& pod);
// The uid of the AppWrapper that the pod belongs to; empty: none.
std::string owner_of(const model::Pod& pod);
// Its pod set; 0 when it does not say.
std::size_t set_of(const model::Pod& pod);

}  // namespace codeflare::sim
