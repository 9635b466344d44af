#include "node/holder/internal/real_service_listeners.h"

#include <set>
#include <utility>

namespace codeflare::node::internal {

ServiceListeners::ServiceListeners(Poller& poller, Options options)
    : poller_(poller), options_(std::move(options)) {}

ServiceListeners::~ServiceListeners() {
  for (const auto& [address, listener] : listeners_) {
    poller_.remove(listener.id);
  }
}

std::vector<ListenFailure> ServiceListeners::update(const ServiceTable& services) {
  std::set<ServiceAddress> wanted = services.addresses();
  std::erase_if(wanted, [&](const ServiceAddress& address) { return address.udp != options_.udp; });
  std::erase_if(listeners_, [&](auto& entry) {
    const bool gone = !wanted.contains(entry.first);
    if (gone) {
      poller_.remove(entry.second.id);
    }
    return gone;
  });
  std::vector<ListenFailure> failures;
  for (const ServiceAddress& address : wanted) {
    if (listeners_.contains(address)) {
      continue;
    }
    if (Result<void> listening = listen_at(address); !listening) {
      failures.push_back({address, std::move(listening).error()});
    }
  }
  return failures;
}

Result<void> ServiceListeners::listen_at(const ServiceAddress& address) {
  TRY_ASSIGN(FileDescriptor socket, options_.open(address.at));
  TRY_ASSIGN(const Poller::Id id,
             poller_.add(socket.get(), EPOLLIN,
                         [this, address](std::uint32_t) { options_.ready(address); }));
  listeners_.emplace(address, Listener{.socket = std::move(socket), .id = id});
  return {};
}

ServiceListeners::Listener* ServiceListeners::find(const ServiceAddress& address) {
  const auto found = listeners_.find(address);
  return found == listeners_.end() ? nullptr : &found->second;
}

}  // namespace codeflare::node::internal
