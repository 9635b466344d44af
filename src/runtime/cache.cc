#include "runtime/cache.h"

#include "base/async/task_group.h"
#include "base/check.h"

#include <tuple>
#include <utility>

namespace codeflare::runtime {

namespace {

// Which objects, and how much of them.
auto view_of(const kube::WatcherOptions& watch) {
  return std::tie(watch.ns, watch.label_selector, watch.field_selector, watch.metadata_only);
}

void check_same_view(const InformerOptions& there, const InformerOptions& asked) {
  CHECK(!asked.transform, "an informer of this kind is there already: no second transform");
  const kube::WatcherOptions whatever;
  CHECK(view_of(asked.watch) == view_of(whatever) || view_of(asked.watch) == view_of(there.watch),
        "an informer of this kind is there already and holds another selection");
}

}  // namespace

Cache::Cache(Env env, kube::Client& client, Logger* logger)
    : env_(env), client_(client), logger_(logger) {}

Informer& Cache::informer(const ResourceType& type, InformerOptions options) {
  std::unique_ptr<Informer>& informer = informers_[type];
  if (informer != nullptr) {
    check_same_view(informer->options(), options);
    return *informer;
  }
  if (options.watch.logger == nullptr) {
    options.watch.logger = logger_;
  }
  informer = std::make_unique<Informer>(env_, client_, type, std::move(options));
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
