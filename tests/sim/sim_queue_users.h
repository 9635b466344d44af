#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::sim {

// The people around one simulated queue: they submit work of all kinds, change their minds, take
// nodes away and bring them back. Their own way to the API server is a good one.
class QueueUsers {
 public:
  struct Habits {
    bool rays = false;
    bool quotas = false;
    bool edits_quotas = false;
    bool pauses = false;
    bool runs_pods = false;  // beside the queue
  };
  using Say = std::function<void(const std::string&)>;
  QueueUsers(Env env, kube::Client& client, Habits habits, Say say);

  // Nodes and quotas.
  Task<void> set_up();
  // Both until `over`.
  Task<void> work(const bool& over);
  Task<void> trouble_nodes(const bool& over);
  // Every node is there and ready, and the queue is not paused.
  Task<void> mend();
  // Work that takes all that is free on each node; false when there is none.
  Task<bool> submit_probes(std::map<std::string, std::int64_t> free_millicores);
  Task<void> delete_all();

  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  // Requests that the server should have allowed and did not.
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  struct Node {
    std::string name;
    std::string zone;
    std::int64_t cpus = 0;
  };

  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Task<void> step();
  Task<void> submit();
  Task<void> change(std::string name);
  Task<void> edit_quotas();
  Task<void> set_paused(bool paused);
  Task<void> add_node(Node node);
  Task<void> patch_node(std::string name, std::string body);

  Task<void> create(kube::ResourceType type, std::string body);
  // Of what may have gone meanwhile.
  Task<void> patch(kube::ResourceType type, std::string name, std::string body);
  Task<void> remove(kube::ResourceType type, std::string name);
  void note(const std::string& what, const Result<kube::ObjectRef>& outcome, bool may_be_gone);

  Env env_;
  kube::Client& client_;
  Habits habits_;
  Say say_;
  std::vector<Node> nodes_;
  std::uint64_t submitted_ = 0;
  std::uint64_t pods_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> refusals_;
};

inline const kube::ResourceType kAppWrappers{"workload.codeflare.dev", "v1beta1", "AppWrapper",
                                             "appwrappers", true};

}  // namespace codeflare::sim
