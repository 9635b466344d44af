#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "controllers/fakenode/fake_kubelet.h"
#include "kube/client.h"
#include "model/node.h"
#include "model/node_extras.h"
#include "model/quantity.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace codeflare::controllers::fakenode {

struct FakeNodeOptions {
  std::size_t count = 1;
  model::Quantity cpus{8};
  model::Quantity memory{std::int64_t{32} << 30, model::Quantity::Format::binary_si};
  model::Quantity gpus{};
  std::int64_t pods = 110;
  model::NodeExtras extras{};
};

inline constexpr std::string_view kFakeNamePrefix = "codeflare-fake-";

// codeflare-fake-0, codeflare-fake-1, ... as they are registered.
model::Node fake_node(std::size_t index, const FakeNodeOptions& options);

// Makes the fake nodes that are missing, gives those that are there the asked size and labels, and
// removes those of an earlier run beyond the count. Nodes that others made with the fake label are
// left alone. Once at the start, as kubelets register: a node deleted later stays away, which is
// how to lose one.
Task<Result<void>> register_fake_nodes(kube::Client& client, FakeNodeOptions options);

// Keeps conditions and taints of fake nodes as their annotations ask.
class FakeNodeKeeper final : public runtime::StoryReconciler<model::Node, model::Node> {
 public:
  explicit FakeNodeKeeper(const runtime::ControllerContext& context);

  std::optional<model::Node> observe(const runtime::ObjectKey& key) const override;
  model::Node desired(const model::Node& observed, WallTime now) const override;
  runtime::Plan diff(const model::Node& observed, const model::Node& desired) const override;

 private:
  const runtime::Store& nodes_;
};

struct FakeNodeControllers {
  FakeNodeKeeper& keeper;
  FakeKubelet& kubelet;
};
FakeNodeControllers add_fake_node_controllers(runtime::Manager& manager);

}  // namespace codeflare::controllers::fakenode
