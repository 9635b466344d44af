#include "base/env/sim_env.h"
#include "elastic/kubernetes_store.h"
#include "elastic/memory_store.h"
#include "elastic/testing/store_claims.h"
#include "kube/testing/scripted_service.h"

#include <chrono>
#include <string>

namespace codeflare::elastic::testing {
namespace {

using std::chrono::seconds;

// The same documents for all: each client is the store itself.
class MemoryWorld final : public StoreWorld {
 public:
  Env env() override { return sim_.env(); }
  std::unique_ptr<Store> connect() override { return std::make_unique<View>(store_); }
  void break_streams() override {}
  Duration ttl() const override { return seconds(10); }

 private:
  class View final : public Store {
   public:
    explicit View(Store& store) : store_(store) {}
    Task<Result<StoreEntry>> get(StoreKey key) override { return store_.get(key); }
    std::unique_ptr<StoreWatch> watch(StoreKey key) override { return store_.watch(key); }
    Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) override {
      return store_.put(key, std::move(value), ttl);
    }
    Task<Result<void>> swap(StoreKey key, std::string value, std::string version) override {
      return store_.swap(key, std::move(value), std::move(version));
    }

   private:
    Store& store_;
  };
  SimEnv sim_;
  MemoryStore store_{sim_.env().loop};
};

class KubernetesWorld final : public StoreWorld {
 public:
  KubernetesWorld() {
    service_.put(
        training_jobs(),
        R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":)"
        R"({"name":"bert","namespace":"default"},"spec":{},"status":{"stage":"Running"}})");
    for (const std::string& name :
         {member_name("bert", 0), member_name("bert", 1), round_name("bert")}) {
      service_.put(leases(),
                   R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" +
                       name + R"(","namespace":"default"},"spec":{}})");
    }
  }
  Env env() override { return sim_.env(); }
  std::unique_ptr<Store> connect() override {
    return std::make_unique<KubernetesStore>(
        client_, KubernetesStoreOptions{.ns = "default", .job = "bert", .holder = "pod-uid"});
  }
  void break_streams() override { service_.break_watches(); }
  Duration ttl() const override { return seconds(10); }

 private:
  SimEnv sim_;
  kube::testing::ScriptedService service_{sim_.env()};
  kube::Client client_{sim_.env(), service_};
};

INSTANTIATE_TEST_SUITE_P(Memory, StoreTest, ::testing::Values([]() -> std::unique_ptr<StoreWorld> {
                           return std::make_unique<MemoryWorld>();
                         }));
INSTANTIATE_TEST_SUITE_P(Kubernetes, StoreTest,
                         ::testing::Values([]() -> std::unique_ptr<StoreWorld> {
                           return std::make_unique<KubernetesWorld>();
                         }));

}  // namespace
}  // namespace codeflare::elastic::testing
