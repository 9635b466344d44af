#pragma once

#include "base/text_map.h"
#include "queue/internal/quota_trees.h"
#include "queue/internal/records.h"
#include "queue/machines.h"
#include "queue/queue.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::queue {

// All that the queue knows. The files beside this one each hold one part of its behaviour; Queue is
// the face. Records stay where they are: others point to them.
struct QueueState {
  explicit QueueState(QueueOptions options_in) : options(options_in), core(options_in.core) {}

  QueueOptions options;
  sched::Core core;
  QuotaTrees quotas;
  std::set<std::string> trees;           // labels with these keys designate quota
  bool paused = false;                   // by an administrator
  std::map<Reason, std::string> blocks;  // why nothing may start; the core is paused then too

  std::map<std::string, NodeRecord, std::less<>> nodes;
  std::map<std::string, NamespaceRecord, std::less<>> namespaces;
  std::map<std::string, PodRecord, std::less<>> pods;  // by uid
  std::map<model::ObjectKey, PodRecord*> pod_by_key;
  // Pods whose AppWrapper is not known (any more), by its UID, and by its name for MCAD's.
  std::map<std::string, PodSetOf, std::less<>> orphans;
  std::map<model::ObjectKey, PodSetOf> mcad_orphans;

  TextMap<WrapperRecord> wrappers;                                 // by uid
  std::map<model::ObjectKey, std::vector<WrapperRecord*>> by_key;  // the newest last
  std::map<sched::GangId, WrapperRecord*> by_gang;
  std::map<sched::GangId, PodRecord*> loose;
  TextSet done;  // removed, but perhaps not gone from the API
  std::size_t holding = 0;
  std::vector<ClusterInfo> clusters;  // empty: one, and nobody asks

  std::map<std::string, MachineNote> machine_notes;  // by UID of one that waits
  std::set<std::string> arrived;                     // complete MachineRequests

  std::set<std::pair<Time, std::string>> delayed;  // not to be tried before, by time

  std::set<std::string, std::less<>> touched;    // whose standing may be another one
  std::set<std::string, std::less<>> displaced;  // with lost places
  std::set<std::string, std::less<>> to_bind;    // with pods that may find a free place
  std::set<std::string, std::less<>> cordoned;   // with pods whose places are on cordoned nodes
  std::set<std::string, std::less<>> drifted;    // whose pods may have left the plan
  std::set<std::string, std::less<>> hopeless;   // pods that can have no place, not told yet
  bool loose_added = false;                      // since the core's last step
  std::optional<Time> review_at;                 // when reasons are looked at again

  WrapperRecord* wrapper(std::string_view uid);
  const WrapperRecord* wrapper(std::string_view uid) const;
};

}  // namespace codeflare::queue
