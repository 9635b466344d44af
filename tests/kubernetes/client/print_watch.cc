// print_watch NAMESPACE: one line for each event of a watch of ConfigMaps, until SIGTERM.

#include "base/env/real_env.h"
#include "kube/connect.h"
#include "kube/watcher.h"

#include <csignal>
#include <cstdio>

namespace {

using namespace codeflare;

const char* name_of(kube::WatcherEvent::Type type) {
  using Type = kube::WatcherEvent::Type;
  switch (type) {
    case Type::init_begin:
      return "init_begin";
    case Type::init_object:
      return "init_object";
    case Type::init_done:
      return "init_done";
    case Type::applied:
      return "applied";
    case Type::deleted:
      return "deleted";
    case Type::progress:
      return "progress";
  }
  return "?";
}

Task<Result<void>> print_events(kube::Watcher& watcher) {
  for (;;) {
    CO_TRY_ASSIGN(kube::WatcherEvent event, co_await watcher.next());
    std::string line = name_of(event.type);
    if (event.object != nullptr) {
      line += " " + std::string(event.object->name());
      line += " " + std::string(event.object->resource_version());
    }
    std::puts(line.c_str());
    std::fflush(stdout);
  }
}

Result<void> watch(RealEnv& world, const std::string& ns) {
  Env env = world.env();
  TRY_ASSIGN(kube::Config config, kube::load_config(env));
  TRY_ASSIGN(std::unique_ptr<kube::Connection> connection, kube::connect(env, std::move(config)));
  kube::Client client(env, connection->service());
  kube::Watcher watcher(client, {"", "v1", "ConfigMap", "configmaps", true}, {.ns = ns});
  StopSource stop;
  world.on_signals({SIGTERM}, [&](int) { stop.request_stop(); });
  return *run(env.loop, print_events(watcher), stop.token());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: print_watch NAMESPACE\n", stderr);
    return 2;
  }
  RealEnv world;
  Result<void> end = watch(world, argv[1]);
  if (!end && end.error().code != ErrorCode::cancelled) {
    std::fprintf(stderr, "%s\n", end.error().to_string().c_str());
    return 1;
  }
  return 0;
}
