#include "runtime/cache.h"

#include "base/async/task_group.h"

#include <utility>

namespace codeflare::runtime {

Cache::Cache(Env env, kube::Client& client, Logger* logger)
    : env_(env), client_(client), logger_(logger) {}

Informer& Cache::informer(const ResourceType& type, InformerOptions options) {
  std::unique_ptr<Informer>& informer = informers_[type];
  if (informer == nullptr) {
    if (options.watch.logger == nullptr) {
      options.watch.logger = logger_;
    }
    informer = std::make_unique<Informer>(env_, client_, type, std::move(options));
  }
  return *informer;
}

Task<void> Cache::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  for (const auto& [type, informer] : informers_) {
    group.spawn(informer->run());
  }
  co_await group.join();
}

bool Cache::synced() const {
  for (const auto& [type, informer] : informers_) {
    if (!informer->synced()) {
      return false;
    }
  }
  return true;
}

std::string Cache::why_not_synced() const {
  std::string text;
  for (const auto& [type, informer] : informers_) {
    if (informer->synced()) {
      continue;
    }
    std::optional<Error> error = informer->last_error();
    text += (text.empty() ? "" : ", ") + type.qualified_name() + ": " +
            (error ? error->message : "still listing");
  }
  return text;
}

}  // namespace codeflare::runtime
