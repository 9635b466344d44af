#pragma once

#include "model/app_wrapper.h"
#include "queue/work.h"

#include <set>
#include <string>

// The parts of one line of the queue beside a status; pure.
namespace codeflare::cli {

// "4 x 8 GPU", "1 x 2 CPU + 3 x 4 CPU": pods, and what one of them needs most. Empty: it has no
// pods, or cannot be read.
std::string requests_text(const model::AppWrapper& wrapper);
// "1..6 x 2 GPU": the pods that it may have.
std::string requests_text(const queue::Work& job);

// The quota nodes that are charged: "gold", of several trees "team=gold,org=dept". `trees` are the
// names of all quota trees; without a label a tree charges its node "default".
std::string quota_text(const model::StringMap& labels, const std::set<std::string>& trees);

}  // namespace codeflare::cli
