#pragma once

#include "base/async/task_group.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/appwrapper/testing/queue_world.h"
#include "controllers/scale/scale_controllers.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/machine_request.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::scale::testing {

// An API server in virtual time with the definitions of somebody else's kinds, and the queue with
// one provider of machines as a process that can crash. Machines are made by a stand-in of the
// test: follow() lets it step ten times a second.
class ScaleWorld {
 public:
  using MakeProvider =
      std::function<std::unique_ptr<Provider>(runtime::Manager&, const QueueDriver&)>;
  struct Options {
    std::vector<std::string> definitions;  // JSON
    std::string provider;                  // its name
    MakeProvider make;
    std::function<void()> stand_in{};
  };
  explicit ScaleWorld(Options options);
  ~ScaleWorld();
  ScaleWorld(const ScaleWorld&) = delete;
  ScaleWorld& operator=(const ScaleWorld&) = delete;

  void start();
  // A process that dies with this write (the first is 1): before it, or after its effect.
  void start_and_kill(std::uint64_t at_write, bool lost_reply);
  void crash();
  void follow(Duration time);
  bool follow_until(const std::function<bool()>& test, Duration time = std::chrono::minutes(5));

  // --- users ---
  // `spec` are members of the spec beside provider and max, without a comma at the end.
  void add_type(const std::string& name, const std::string& spec);
  // An AppWrapper of pods that ask for 6 CPUs each.
  void submit(const std::string& name, int pods);
  kube::ObjectRef create(const model::ResourceType& type, const std::string& ns, std::string body);
  void patch(const model::ResourceType& type, const model::ObjectKey& key, std::string body,
             std::string subresource = {});
  // Without grace; what is gone already is fine.
  void remove(const model::ResourceType& type, const model::ObjectKey& key);
  std::vector<kube::ObjectRef> list(const model::ResourceType& type);
  kube::ObjectRef get(const model::ResourceType& type, const model::ObjectKey& key);

  // --- what a cloud does ---
  // A ready Node with these labels (members of a JSON object).
  void add_node(const std::string& name, const std::string& labels, const std::string& cpus = "8");

  // --- what there is ---
  std::vector<model::MachineRequest> requests();
  // Of all requests: "Pending: waits for machines".
  std::string state();
  // Nodes that belong to a request, and those that only its work may use.
  std::vector<std::string> adopted();
  std::vector<std::string> closed();
  // "node-a node-b": the Nodes of the pods, sorted.
  std::string places();

  controllers::testing::Wire& wire() { return wire_; }

 private:
  struct Process;
  void begin();
  Task<void> run_manager(runtime::Manager& manager);

  Options options_;
  controllers::testing::EmbeddedCluster cluster_;
  controllers::testing::Wire wire_;
  std::unique_ptr<Process> process_;
};

}  // namespace codeflare::controllers::scale::testing
