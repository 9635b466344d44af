#include "kube/watcher.h"

#include "kube/internal/watch_machine.h"

#include <utility>

namespace codeflare::kube {

Watcher::Watcher(Client& client, ResourceType type, WatcherOptions options)
    : machine_(std::make_unique<Machine>(client, std::move(type), std::move(options))) {}

Watcher::~Watcher() = default;

Task<Result<WatcherEvent>> Watcher::next() {
  return machine_->next();
}

const std::optional<Error>& Watcher::last_error() const {
  return machine_->last_error();
}

}  // namespace codeflare::kube
