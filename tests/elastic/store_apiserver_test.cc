// The rendezvous on the embedded API server, agents with the rights of their Role alone.

#include "base/env/sim_env.h"
#include "elastic/kubernetes_store.h"
#include "elastic/testing/store_claims.h"
#include "net/sim_link.h"
#include "tests/elastic/training_cluster.h"

#include <chrono>
#include <string>

namespace codeflare::elastic::testing {
namespace {

using std::chrono::seconds;

class ApiServerWorld final : public StoreWorld {
 public:
  ApiServerWorld() {
    Result<void> started = *run(sim_.env().loop, cluster_.start(2));
    EXPECT_TRUE(started) << started.error().to_string();
    link_ = std::make_unique<net::SimLink>(cluster_.agents(), sim_.env().random);
    client_ = std::make_unique<kube::Client>(sim_.env(), *link_);
  }
  ~ApiServerWorld() override { run(sim_.env().loop, cluster_.stop()); }

  Env env() override { return sim_.env(); }
  // The membership is written by the controller, with more rights.
  std::unique_ptr<Store> connect() override { return std::make_unique<Client>(*this); }
  void break_streams() override {
    link_->partition();
    link_->heal();
  }
  Duration ttl() const override { return seconds(10); }

  kube::Client& agents() { return *client_; }
  TrainingCluster& cluster() { return cluster_; }

 private:
  class Client final : public Store {
   public:
    explicit Client(ApiServerWorld& world)
        : agent_(*world.client_, {.ns = "default", .job = "bert", .holder = "pod"}),
          controller_(world.cluster_.admin(), {.ns = "default", .job = "bert"}) {}
    Task<Result<StoreEntry>> get(StoreKey key) override { return agent_.get(key); }
    std::unique_ptr<StoreWatch> watch(StoreKey key) override { return agent_.watch(key); }
    Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) override {
      return agent_.put(key, std::move(value), ttl);
    }
    Task<Result<void>> swap(StoreKey key, std::string value, std::string version) override {
      const bool membership = key.kind == StoreKey::Kind::membership;
      return (membership ? controller_ : agent_).swap(key, std::move(value), std::move(version));
    }

   private:
    KubernetesStore agent_;
    KubernetesStore controller_;
  };

  SimEnv sim_;
  TrainingCluster cluster_{sim_.env()};
  std::unique_ptr<net::SimLink> link_;
  std::unique_ptr<kube::Client> client_;
};

INSTANTIATE_TEST_SUITE_P(ApiServer, StoreTest,
                         ::testing::Values([]() -> std::unique_ptr<StoreWorld> {
                           return std::make_unique<ApiServerWorld>();
                         }));

TEST(AgentAccess, agents_reach_nothing_but_their_job) {
  ApiServerWorld world;
  const auto code = [&](auto task) {
    auto result = *run(world.env().loop, std::move(task));
    return result ? ErrorCode::internal : result.error().code;
  };
  kube::Client& agents = world.agents();
  EXPECT_EQ(code(agents.list(leases(), {.ns = "default"})), ErrorCode::permission_denied);
  EXPECT_EQ(code(agents.watch(leases(), {.ns = "default"})), ErrorCode::permission_denied);
  EXPECT_EQ(code(agents.get(leases(), {"default", "bert-worker-2"})), ErrorCode::permission_denied);
  EXPECT_EQ(code(agents.patch(training_jobs(), {"default", "bert"}, kube::PatchKind::merge, "{}",
                              {.subresource = "status"})),
            ErrorCode::permission_denied);
  EXPECT_EQ(code(agents.remove(leases(), {"default", "bert-round"})), ErrorCode::permission_denied);
}

}  // namespace
}  // namespace codeflare::elastic::testing
