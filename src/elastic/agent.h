#pragma once

#include "base/async/task.h"
#include "base/env/children.h"
#include "base/env/env.h"
#include "base/log.h"
#include "elastic/agent_machine.h"
#include "elastic/store.h"
#include "elastic/worker_env.h"
#include "net/byte_stream.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::elastic {

struct AgentOptions {
  AgentIdentity identity;
  // The program and its arguments, word for word.
  std::vector<std::string> command;
  Framework framework = Framework::pytorch;
  std::string run_id;           // UID of the job
  std::string socket;           // where workers find the agent
  std::string state_directory;  // outlives workers
  std::int64_t restarts_max = 0;
  bool threads_given = false;
  Duration ttl = std::chrono::seconds(10);
  Duration renew = std::chrono::seconds(3);
};

// Where workers connect to.
class WorkerDoor {
 public:
  virtual ~WorkerDoor() = default;
  virtual Task<Result<std::unique_ptr<net::ByteStream>>> accept() = 0;
};

// The world around an agent. All of it outlives the agent.
struct AgentWorld {
  Env env;
  Store& store;
  Children& children;
  WorkerDoor& door;
  std::function<Result<std::uint16_t>()> free_port;
  // Takes what workers write; with several workers each line begins with its local rank.
  std::function<void(Child::Stream, std::string_view)> output;
  Logger logger;
};

// The hands of an agent: carries out what AgentMachine decides and tells it what happens. One per
// pod.
//   Agent agent(world, options);
//   int code = co_await agent.run();
class Agent {
 public:
  Agent(AgentWorld world, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Until the training is over or the pod has to go; the exit code of the pod. When cancelled, all
  // workers are killed.
  Task<int> run();
  // SIGTERM: a notice.
  void terminate();

  const Member& document() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::elastic
