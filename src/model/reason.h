#pragma once

#include <cstdint>

namespace codeflare::model {

// Why an AppWrapper waits, stops, went back to the queue or ended. One type from the scheduling
// core to the command line. It is defined here because model is the only layer that sched, queue,
// controllers and cli all may include. The words of the API are in queue/status_words.h.
enum class Reason : std::uint8_t {
  none,  // nothing to report; in the core also: not tried yet

  // It waits, as the scheduling core decides.
  held,                    // by its owner
  unknown_quota,           // it names a quota node that does not exist, or may not charge it
  insufficient_quota,      // a quota node has no room
  no_node_allowed,         // selectors, affinity or taints leave no node
  insufficient_resources,  // too little is free
  fragmented,              // enough is free in sum, but not in pieces that its pods fit
  reserved,                // it would fit, but the head of the line has reserved the resources
  preempting,              // the gangs evicted for it are not gone yet
  paused,                  // nothing starts now

  // It waits, as the queue decides.
  evaluating,           // not tried yet
  user_unknown,         // nobody is recorded to have submitted it
  retry_later,          // its items could not be created
  definition_outdated,  // the server drops parts of the status that the queue needs
  unlicensed,           // the release edition has no valid licence
  scaling_up,           // machines are on order

  // It stops, as the queue decides.
  preempted,
  suspended,
  place_lost,  // a node of its plan is gone
  stopping,    // the controller decided

  // It went back to the queue, as the controller decides.
  places_lost,        // the queue does not hold its plan
  stopped,            // a previous controller was about to stop it
  quota_exceeded,     // a ResourceQuota rejected an item
  items_not_created,  // not in time
  min_pods_not_running,
  pods_not_created,
  pods_failed_scheduling,
  preemption_triggered,
  cluster_refused,  // the worker rejected the copy
  cluster_busy,     // the worker's queue did not start the copy in time
  cluster_drained,  // an administrator drains the worker and evicts its work

  // Steps that MCAD reports too.
  awaiting_head_of_line,
  front_of_queue,
  app_wrapper_runnable,
  app_wrapper_not_runnable,
  quota_limit_exceeded,
  pods_running,
  some_items_completed,
  pods_completed,

  // It failed.
  dispatch_deadline_exceeded,
  item_creation_failure,
  item_failed,
  item_lost,

  // It no longer waits.
  dispatched,
  adopted,  // MCAD dispatched it, and it still holds what MCAD gave it
  requeued_too_often,
  failed,

  // Events only.
  abandoned,  // objects stay for their finalizers
  completed,
  deleted,
  pod_trouble,  // a pod fails or cannot start
  stuck,        // objects are still there after deletion without grace
  unreadable,
  cluster_lost,  // the worker that has the copy does not answer
  withdrawn,
};

}  // namespace codeflare::model
