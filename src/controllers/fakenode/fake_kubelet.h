#pragma once

#include "controllers/fakenode/fake_node_pods.h"
#include "controllers/fakenode/node_table.h"
#include "controllers/fakenode/pod_timeline.h"
#include "model/pod.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>
#include <string>

namespace codeflare::controllers::fakenode {

// A pod that is bound to a fake node, or to one that is not there any more.
struct ObservedPod {
  model::Pod pod;
  std::optional<NodeFacts> node;
  FakeNodePods::Entry entry;
};

// The one next thing for the pod.
struct DesiredPod {
  enum class Kind : std::uint8_t {
    nothing,
    status,  // write it
    evict,   // ask it to go
    drop,    // it has gone: let the object go too
  };
  Kind kind = Kind::nothing;
  std::optional<model::PodStatus> status;  // of `status`, and of `drop` that reports an end
  std::string why;
  std::optional<Duration> look_again;
};

DesiredPod decide(const ObservedPod& observed, WallTime now);

// Plays kubelet for all fake nodes: two writes per pod (running, ended), timers in between.
class FakeKubelet final : public runtime::StoryReconciler<ObservedPod, DesiredPod> {
 public:
  FakeKubelet(const runtime::ControllerContext& context, std::shared_ptr<FakeNodePods> ledger);

  std::optional<ObservedPod> observe(const runtime::ObjectKey& key) const override;
  DesiredPod desired(const ObservedPod& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedPod& observed, const DesiredPod& desired) const override;

 private:
  bool is_of_interest(const kube::Object& pod) const;

  const Clock& clock_;
  const runtime::Store& pods_;
  NodeTable nodes_;
  // Remembers what observe saw first; nothing outside changes by it.
  std::shared_ptr<FakeNodePods> ledger_;
};

}  // namespace codeflare::controllers::fakenode
