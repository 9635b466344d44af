#include "tests/sim/sim_queue_users.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/queue_driver.h"
#include "queue/marks.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_queue_drafts.h"

#include <chrono>
#include <utility>

namespace codeflare::sim {

using std::chrono::seconds;

namespace {

const kube::ResourceType kNodes{"", "v1", "Node", "nodes", false};
const kube::ResourceType kPods{"", "v1", "Pod", "pods", true};
const kube::ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};
const kube::ResourceType kQuotas{"quota.codeflare.dev", "v1alpha1", "QuotaSubtree", "quotasubtrees",
                                 true};
const std::string kNs = "default";

constexpr std::uint64_t kSubmissionsMax = 12;
constexpr Duration kPause = seconds(9);
constexpr Duration kNodePause = seconds(50);
constexpr Duration kNodeAway = seconds(60);

}  // namespace

QueueUsers::QueueUsers(Env env, kube::Client& client, Habits habits, Say say)
    : env_(env), client_(client), habits_(habits), say_(std::move(say)) {
  const std::uint64_t count = 2 + pick(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    nodes_.push_back({.name = "n" + std::to_string(i),
                      .zone = i % 2 == 0 ? "a" : "b",
                      .cpus = 2 + static_cast<std::int64_t>(pick(4))});
  }
}

Task<void> QueueUsers::set_up() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    co_await add_node(nodes_[i]);
  }
  if (habits_.quotas) {
    co_await create(kQuotas, quota_roots(3 + static_cast<std::int64_t>(pick(6))));
    co_await create(kQuotas, quota_teams(1 + static_cast<std::int64_t>(pick(4)),
                                         1 + static_cast<std::int64_t>(pick(4))));
  }
}

Task<void> QueueUsers::work(const bool& over) {
  while (!over) {
    co_await step();
    (void)co_await sleep_for(up_to(env_.random, kPause));
  }
}

Task<void> QueueUsers::step() {
  const std::uint64_t choice = pick(20);
  if (choice < 9 || submitted_ == 0) {
    co_await submit();
  } else if (choice < 16) {
    co_await change("w" + std::to_string(pick(submitted_)));
  } else if (choice < 17 && habits_.edits_quotas) {
    co_await edit_quotas();
  } else if (choice < 18 && habits_.pauses) {
    co_await set_paused(pick(2) == 0);
  } else if (habits_.runs_pods) {
    co_await create(kPods, lone_pod(env_.random, "p" + std::to_string(pods_++)));
  }
}

Task<void> QueueUsers::submit() {
  if (submitted_ == kSubmissionsMax) {
    co_return;
  }
  const std::string name = "w" + std::to_string(submitted_++);
  std::string body =
      some_wrapper(env_.random, name, {.rays = habits_.rays, .quotas = habits_.quotas});
  co_await create(kAppWrappers, std::move(body));
}

Task<void> QueueUsers::change(std::string name) {
  const std::uint64_t choice = pick(8);
  if (choice < 2) {
    co_await remove(kAppWrappers, std::move(name));
  } else if (choice < 4) {
    co_await patch(kAppWrappers, std::move(name), R"({"spec":{"suspend":true}})");
  } else if (choice < 7) {
    co_await patch(kAppWrappers, std::move(name), R"({"spec":{"suspend":false}})");
  } else {
    co_await patch(kAppWrappers, std::move(name),
                   R"({"spec":{"priority":)" + std::to_string(pick(4)) + "}}");
  }
}

Task<void> QueueUsers::edit_quotas() {
  co_await patch(
      kQuotas, "teams",
      quota_teams(1 + static_cast<std::int64_t>(pick(4)), 1 + static_cast<std::int64_t>(pick(4))));
}

Task<void> QueueUsers::set_paused(bool paused) {
  const std::string name(queue::kQueueConfigMap);
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                           R"("},"data":{"paused":")" + (paused ? "true" : "false") + "\"}}";
  note(paused ? "pause" : "go on", co_await client_.apply(kConfigMaps, {kNs, name}, body), false);
}

// --- nodes ---

Task<void> QueueUsers::add_node(Node node) {
  co_await create(kNodes, fake_node(node.name, node.zone));
  note("size of " + node.name,
       co_await client_.patch(kNodes, {"", node.name}, kube::PatchKind::merge,
                              fake_node_status(node.cpus), {.subresource = "status"}),
       true);
}

Task<void> QueueUsers::patch_node(std::string name, std::string body) {
  note("patch node " + name,
       co_await client_.patch(kNodes, {"", name}, kube::PatchKind::merge, std::move(body)), true);
}

Task<void> QueueUsers::trouble_nodes(const bool& over) {
  while (!over) {
    (void)co_await sleep_for(up_to(env_.random, kNodePause));
    const Node node = nodes_[pick(nodes_.size())];
    const std::uint64_t choice = pick(6);
    if (choice < 3) {
      counts_["nodes lost"] += 1;
      note("lose " + node.name, co_await client_.remove(kNodes, {"", node.name}), true);
      (void)co_await sleep_for(up_to(env_.random, kNodeAway));
      co_await add_node(node);
    } else if (choice < 5) {
      const std::string ready = pick(2) == 0 ? "true" : "false";
      co_await patch_node(
          node.name, R"({"metadata":{"annotations":{"codeflare.dev/ready":")" + ready + "\"}}}");
    } else {
      co_await patch_node(node.name, pick(2) == 0 ? R"({"spec":{"unschedulable":true}})"
                                                  : R"({"spec":{"unschedulable":null}})");
    }
  }
}

Task<void> QueueUsers::mend() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    co_await patch_node(nodes_[i].name,
                        R"({"metadata":{"annotations":{"codeflare.dev/ready":"true"}},)"
                        R"("spec":{"unschedulable":null}})");
  }
  co_await set_paused(false);
}

// --- the end ---

Task<bool> QueueUsers::submit_probes(std::map<std::string, std::int64_t> free_millicores) {
  bool any = false;
  for (const auto& [node, free] : free_millicores) {
    if (free > 0) {
      any = true;
      counts_["probes"] += 1;
      co_await create(kAppWrappers, probe("probe-" + node, node, free));
    }
  }
  co_return any;
}

Task<void> QueueUsers::delete_all() {
  const Result<kube::ObjectList> all = co_await client_.list(kAppWrappers, {});
  if (!all) {
    refusals_.push_back("list: " + all.error().to_string());
    co_return;
  }
  for (const kube::ObjectRef& object : all->items) {
    co_await remove(kAppWrappers, std::string(object->name()));
  }
}

// --- writing ---

Task<void> QueueUsers::create(kube::ResourceType type, std::string body) {
  Result<kube::ObjectRef> made =
      co_await client_.create(type, type.namespaced ? kNs : "", std::move(body));
  counts_["made " + type.kind] += 1;
  note("create " + (made ? type.kind + " " + std::string((*made)->name()) : type.kind), made,
       false);
}

Task<void> QueueUsers::patch(kube::ResourceType type, std::string name, std::string body) {
  std::string what = "patch " + name + " " + body;
  note(what, co_await client_.patch(type, {kNs, name}, kube::PatchKind::merge, std::move(body)),
       true);
}

Task<void> QueueUsers::remove(kube::ResourceType type, std::string name) {
  note("delete " + name, co_await client_.remove(type, {kNs, name}), true);
}

void QueueUsers::note(const std::string& what, const Result<kube::ObjectRef>& outcome,
                      bool may_be_gone) {
  say_("user: " + what + (outcome ? "" : " failed"));
  if (!outcome && !(may_be_gone && outcome.error().code == ErrorCode::not_found)) {
    refusals_.push_back(what + ": " + outcome.error().to_string());
  }
}

}  // namespace codeflare::sim
