#pragma once

#include "model/pod.h"
#include "queue/kinds/problems.h"

#include <string>

namespace codeflare::queue {

// Whether every request, limit and overhead of the pod spec at `pointer` can be counted and would
// be accepted by a server; others are reported. With `limits_may_come` a limit that is absent may
// still come from a LimitRange.
bool check_pod_amounts(const model::PodSpec& spec, const std::string& pointer, bool limits_may_come,
                       ItemProblems& problems);

}  // namespace codeflare::queue
