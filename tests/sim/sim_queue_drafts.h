#pragma once

#include "base/env/random.h"

#include <cstdint>
#include <string>

// Objects that the people of the simulated cluster write, as JSON.
namespace codeflare::sim {

struct DraftOptions {
  bool rays = false;    // RayClusters among the work
  bool quotas = false;  // labels that charge nodes of the tree `team`
};

// An AppWrapper of some kind: Jobs, Pods or a RayCluster, small and large, some that fail, some
// that ask for what is not there.
std::string some_wrapper(Random& random, const std::string& name, const DraftOptions& options);
// One pod that takes all of this on this node, and soon ends.
std::string probe(const std::string& name, const std::string& node, std::int64_t millicores);
// A pod of nobody.
std::string lone_pod(Random& random, const std::string& name);

// A node whose pods only pretend, and what it has.
std::string fake_node(const std::string& name, const std::string& zone);
std::string fake_node_status(std::int64_t cpus);

// Tree `team`: roots `org`, with a limit, and `default`, without one; below `org` are `a`, which
// may not borrow, and `b`, which may.
std::string quota_roots(std::int64_t org_cpus);
std::string quota_teams(std::int64_t a_cpus, std::int64_t b_cpus);

}  // namespace codeflare::sim
