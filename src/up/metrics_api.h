#pragma once

#include "apiserver/rest/served_group.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"
#include "model/pod.h"
#include "node/agent/pod_runtime.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::up {

// Current use of the containers of a pod.
struct PodRate {
  model::Pod pod;
  struct Container {
    std::string name;
    std::int64_t cpu_nanos = 0;  // of processor time a second
    std::int64_t memory_bytes = 0;
  };
  std::vector<Container> containers;
  Duration window{};  // over which processor time was counted
};

// metrics.k8s.io/v1beta1 for the pods of this process: `kubectl top` and `codeflare top`. Nothing
// is measured unless somebody asks; the first answer takes half a second, which is its window. The
// use of a node is that of its pods.
class MetricsApi {
 public:
  explicit MetricsApi(Env env) : env_(env) {}

  // For ApiServer::Options::more_groups; refers to this.
  apiserver::ServedGroup group();
  // Once there are nodes, until end().
  void serve(node::PodRuntime& pods, std::set<std::string> nodes, kube::Client& client);
  void set_nodes(std::set<std::string> nodes) { nodes_ = std::move(nodes); }
  void end() { pods_ = nullptr; }

 private:
  struct Sample {
    Instant at{};
    std::int64_t cpu_nanos = 0;
  };
  using Samples = std::map<std::pair<std::string, std::string>, Sample>;  // by uid and container

  Task<Result<net::Response>> answer(apiserver::RequestInfo info);
  Task<Result<net::Response>> answer_nodes(apiserver::RequestInfo info);
  // Of running pods of our nodes; those of one namespace when it is not empty.
  Task<Result<std::vector<PodRate>>> measure(std::string ns, std::string selector);
  // Rates against the samples; false when some container has none that is old enough.
  bool rate(std::vector<PodRate>& pods, const node::PodUses& uses);

  Env env_;
  node::PodRuntime* pods_ = nullptr;
  kube::Client* client_ = nullptr;
  std::set<std::string> nodes_;
  Samples samples_;
};

}  // namespace codeflare::up
