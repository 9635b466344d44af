// Keeps an informer of pods and says what it costs, in the lines that the client-go yardstick in
// tests/kubernetes/informer prints: started, synced, done.
//   pod_informer UPDATES [managed-fields=drop]

#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "bench/load.h"
#include "json/write.h"
#include "kube/connect.h"
#include "runtime/informer.h"
#include "runtime/transform.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <string>

using namespace codeflare;
using namespace codeflare::runtime;

namespace {

struct Counts {
  std::int64_t adds = 0;
  std::int64_t updates = 0;
  std::int64_t deletes = 0;
};

// A field of /proc/self/status, given there in kB.
std::int64_t status_bytes(Env env, const std::string& field) {
  auto text = env.files.read("/proc/self/status");
  auto at = text ? text->find(field + ":") : std::string::npos;
  return at == std::string::npos ? -1 : std::atoll(text->c_str() + at + field.size() + 1) * 1024;
}

void report(Env env, const char* event, const Informer& informer, const Counts& counts) {
  const double cpu = bench::cpu_seconds();
  const std::int64_t before = status_bytes(env, "VmRSS");
  malloc_trim(0);
  std::string line;
  json::Writer w(line);
  w.begin_object().member("event", event);
  w.key("objects").integer(static_cast<std::int64_t>(informer.store().size()));
  w.key("rss_bytes").integer(status_bytes(env, "VmRSS"));
  w.key("rss_before_gc_bytes").integer(before);
  w.key("rss_peak_bytes").integer(status_bytes(env, "VmHWM"));
  w.key("cpu_seconds").number(cpu);
  w.key("adds").integer(counts.adds).key("updates").integer(counts.updates);
  w.key("deletes").integer(counts.deletes).end_object();
  std::puts(line.c_str());
  std::fflush(stdout);
}

Task<void> follow(Env env, kube::Client& client, std::int64_t wanted, bool drop, StopSource& stop) {
  const ResourceType pods{"", "v1", "Pod", "pods", true};
  InformerOptions options;
  if (drop) {
    options.transform = without_managed_fields;
  }
  Informer informer(env, client, pods, std::move(options));
  Counts counts;
  WaitList enough;
  informer.add_handler([&](const ObjectChange& change) {
    (change.old == nullptr   ? counts.adds
     : change.now == nullptr ? counts.deletes
                             : counts.updates)++;
    if (counts.updates == wanted) {
      enough.notify_all();
    }
  });
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, stop.token());
  report(env, "started", informer, counts);
  group.spawn(informer.run());
  if (co_await informer.wait_synced()) {
    report(env, "synced", informer, counts);
    while (counts.updates < wanted) {
      if (!co_await enough.wait()) {
        break;
      }
    }
    report(env, "done", informer, counts);
  }
  co_await group.close();
}

}  // namespace

int main(int argc, char** argv) {
  RealEnv world;
  Env env = world.env();
  Logger log(env.clock, LogLevel::warn, stderr_log_sink(LogFormat::text));
  const std::int64_t wanted = argc > 1 ? std::atoll(argv[1]) : 0;
  const bool drop = argc > 2 && std::string_view(argv[2]) == "managed-fields=drop";
  auto config = kube::load_config(env);
  auto connection = config ? kube::connect(env, *config) : fail(config.error());
  if (!connection) {
    log.error("cannot connect", {{"error", connection.error()}});
    return 1;
  }
  kube::Client client(env, (*connection)->service());
  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  return run(env.loop, follow(env, client, wanted, drop, stop), stop.token()) ? 0 : 1;
}
