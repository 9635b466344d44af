#pragma once

#include "sched/explanation.h"

#include <cstdint>
#include <string>
#include <vector>

// Words for nodes that taints keep pods away from.
namespace codeflare::queue {

// The first of `all` nodes: "n1, n2 and 4 more".
std::string some_names(const std::vector<std::string>& names, std::int64_t all);

// Lets pods onto `all` nodes in spite of the taint: "tolerate the taint, or run 'kubectl taint
// nodes n1 dedicated:NoSchedule-'". With `exact` the toleration to copy into a pod template.
std::string taint_cure(const sched::Taint& taint, const std::vector<std::string>& names,
                       std::int64_t all, bool exact);

// "fits with node n1 once running work ends; for taint dedicated=ml:NoSchedule ...".
std::string tainted_advice(const std::vector<sched::TaintedNode>& nodes);

}  // namespace codeflare::queue
