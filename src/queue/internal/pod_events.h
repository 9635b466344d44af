#pragma once

#include "model/pod.h"
#include "queue/internal/state.h"

#include <string_view>

// Pods, and who accounts for them: their AppWrapper's gang, a gang of one, or the sum of their
// node.
namespace codeflare::queue {

void upsert_pod(QueueState& state, const model::Pod& pod);
void remove_pod(QueueState& state, const model::ObjectKey& key, std::string_view uid);

// Accounts for the pod where it now belongs. Call after anything that may change that.
void settle(QueueState& state, PodRecord& pod);

// A known AppWrapper finds its pods, and loses them when it is known no more.
void link_pods(QueueState& state, WrapperRecord& wrapper);
void unlink_pods(QueueState& state, WrapperRecord& wrapper);
// The core has just dropped, or given, all that the gang holds.
void holdings_gone(QueueState& state, WrapperRecord& wrapper);
void holdings_begun(QueueState& state, WrapperRecord& wrapper);

void set_resource_quota(QueueState& state, const model::ObjectKey& key, const QuotaRule& rule);
void remove_resource_quota(QueueState& state, const model::ObjectKey& key);

}  // namespace codeflare::queue
