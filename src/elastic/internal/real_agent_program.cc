#include "base/env/real_children.h"
#include "base/env/real_env.h"
#include "elastic/agent.h"
#include "elastic/agent_program.h"
#include "elastic/agent_settings.h"
#include "elastic/etcd_store.h"
#include "elastic/install.h"
#include "elastic/kubernetes_store.h"
#include "kube/config.h"
#include "kube/connect.h"
#include "kube/in_cluster.h"
#include "net/client.h"
#include "net/free_port.h"
#include "net/local_listener.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace codeflare::elastic {

namespace {

using std::chrono::seconds;

constexpr int kUsage = 2;
constexpr int kRetryable = 128 + SIGTERM;

int report(const Error& error, int code) {
  std::fprintf(stderr, "codeflare-agent: error: %s\n", error.message.c_str());
  return code;
}

// Blocks when nobody reads, as it would block the worker itself.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

class Door final : public WorkerDoor {
 public:
  explicit Door(net::LocalListener& listener) : listener_(listener) {}
  Task<Result<std::unique_ptr<net::ByteStream>>> accept() override { return listener_.accept(); }

 private:
  net::LocalListener& listener_;
};

// The store with all that it stands on.
struct Rendezvous {
  std::unique_ptr<kube::Connection> connection;
  std::unique_ptr<kube::Client> client;
  std::unique_ptr<net::HttpClient> etcd;
  std::unique_ptr<Store> store;
};

Result<Rendezvous> meet_in_etcd(Env env, const AgentSettings& settings) {
  Rendezvous all;
  TRY_ASSIGN(all.etcd, connect_etcd(env, settings.etcd, "codeflare-agent"));
  all.store = std::make_unique<EtcdStore>(env, *all.etcd, settings.agent.run_id);
  return all;
}

Result<Rendezvous> connect_kubernetes(Env env, const AgentSettings& settings) {
  Result<kube::Config> config = kube::in_cluster_config(env);
  if (!config && config.error().code == ErrorCode::not_found) {
    config = kube::load_config(env);  // started by hand, outside of a pod
  }
  if (!config) {
    return fail(std::move(config).error());
  }
  Rendezvous all;
  TRY_ASSIGN(all.connection,
             kube::connect(env, *std::move(config), {.user_agent = "codeflare-agent"}));
  // Its own loops try again, and sooner.
  all.client = std::make_unique<kube::Client>(env, all.connection->service(),
                                              kube::ClientOptions{.user_agent = "codeflare-agent",
                                                                  .attempts_max = 1,
                                                                  .transport_attempts_max = 1,
                                                                  .request_timeout = seconds(5)});
  all.store = std::make_unique<KubernetesStore>(
      *all.client,
      KubernetesStoreOptions{
          .ns = settings.ns, .job = settings.job, .holder = settings.agent.identity.pod});
  return all;
}

Result<int> run_agent(RealEnv& world, AgentSettings settings) {
  Env env = world.env();
  AgentOptions& options = settings.agent;
  options.identity.agent = env.random.uuid();
  TRY(env.files.make_directories(options.state_directory, 0700));
  TRY_ASSIGN(Rendezvous rendezvous, settings.backend == Backend::etcd
                                        ? meet_in_etcd(env, settings)
                                        : connect_kubernetes(env, settings));
  TRY_ASSIGN(std::unique_ptr<net::LocalListener> listener,
             net::listen_local(env.loop, options.socket));
  std::unique_ptr<Children> children = make_real_children(env.loop, {.reap_orphans = true});
  Door door(*listener);
  const Logger logger(env.clock, LogLevel::info, stderr_log_sink(LogFormat::text));
  Agent agent({.env = env,
               .store = *rendezvous.store,
               .children = *children,
               .door = door,
               .free_port = [] { return net::free_port("0.0.0.0"); },
               .output =
                   [](Child::Stream stream, std::string_view text) {
                     write_all(stream == Child::Stream::output ? STDOUT_FILENO : STDERR_FILENO,
                               text);
                   },
               .logger = logger},
              std::move(options));
  world.on_signals({SIGTERM, SIGINT}, [&agent](int) { agent.terminate(); });
  return run(env.loop, agent.run()).value_or(kRetryable);
}

}  // namespace

int agent_program(int argc, char** argv, const char* program) {
  RealEnv world({.blocking_threads = 1});
  Result<AgentSettings> settings =
      read_agent_settings(world.env().variables, std::vector<std::string>(argv, argv + argc));
  if (!settings) {
    return report(settings.error(), kUsage);
  }
  if (settings->help) {
    std::fputs(agent_usage(program).c_str(), stdout);
    return 0;
  }
  if (!settings->install_directory.empty()) {
    const Result<void> installed = install_agent(world.env(), settings->install_directory);
    return installed ? 0 : report(installed.error(), 1);
  }
  const Result<int> code = run_agent(world, *std::move(settings));
  return code ? *code : report(code.error(), kRetryable);
}

}  // namespace codeflare::elastic
