#include "node/agent/holder_network.h"

#include "base/async/sleep.h"
#include "node/agent/daemon_command.h"
#include "node/system/forbidden.h"

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::node {

namespace {

// A holder that has just ended may still have its lock.
constexpr Duration kBetweenTries = std::chrono::milliseconds(200);
constexpr int kTries = 5;

std::string key_of(const ServiceRecord& service) {
  return service.ns + "/" + service.name;
}

}  // namespace

HolderNetwork::HolderNetwork(Env env, HolderNetworkOptions options, Call call, Connect connect)
    : env_(env),
      options_(std::move(options)),
      call_(std::move(call)),
      connect_(std::move(connect)),
      group_(env.loop) {}

HolderNetwork::~HolderNetwork() = default;

std::string HolderNetwork::holder() const {
  return join_path(options_.directory, "holder.sock");
}

std::string HolderNetwork::way_out() const {
  return options_.egress ? "http://" + gateway_ + ":" + std::to_string(kEgressPort) : std::string();
}

std::optional<std::string> HolderNetwork::address_of(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? std::nullopt : std::optional(found->second.address);
}

Task<Result<HolderReply>> HolderNetwork::call(HolderRequest request) {
  const std::string path = holder();
  co_return co_await run_blocking(env_, [&] { return call_(path, request); });
}

Task<Result<void>> HolderNetwork::launch() {
  Command command{.program = options_.program, .arguments = {"node-holder", options_.directory}};
  CO_TRY_ASSIGN(const CommandResult started,
                co_await with_timeout(kDaemonStartWithin, "the start of the network's holder",
                                      env_.launcher.run(std::move(command))));
  if (started.exit_code != 0) {
    const std::string why = "no holder for the pod network: " + first_line(started.error_output);
    co_return fail(started.exit_code == kForbiddenExit ? unsupported(why)
                                                       : failed_precondition(why));
  }
  launched_ = launched_ || !started.output.empty();  // it says its number when it is new
  co_return Result<void>();
}

Task<Result<void>> HolderNetwork::learn() {
  HolderRequest request{.verb = "state"};
  CO_TRY_ASSIGN(const HolderReply reply, co_await call(std::move(request)));
  gateway_ = reply.answer.gateway;
  pods_.clear();
  for (const PodRecord& pod : reply.answer.pods) {
    pods_.insert_or_assign(pod.uid, pod);
  }
  co_return Result<void>();
}

Task<Result<void>> HolderNetwork::start() {
  CO_TRY(co_await run_blocking(
      env_, [&] { return env_.files.make_directories(options_.directory, 0700); }));
  CO_TRY(co_await revive());
  group_.spawn(watch());
  if (options_.egress) {
    group_.spawn(keep_way_out());
  }
  co_return Result<void>();
}

// One at a time: whoever comes meanwhile waits and finds it done.
Task<Result<void>> HolderNetwork::revive() {
  if (reviving_) {
    while (reviving_) {
      CO_TRY(co_await revived_.wait());
    }
    co_return Result<void>();
  }
  reviving_ = true;
  Result<void> known = fail(unavailable("the holder of the pod network does not start"));
  for (int i = 0; i < kTries && !known && !closed_; ++i) {
    if (i > 0 && !co_await sleep_for(kBetweenTries)) {
      break;
    }
    known = co_await launch();
    if (!known) {
      break;  // it said why not, and would again
    }
    known = co_await learn();
  }
  const std::map<std::string, ServiceRecord> services = services_;
  for (const auto& [key, service] : services) {
    if (!known) {
      break;
    }
    HolderRequest request{.verb = "service", .service = service};
    const Result<HolderReply> told = co_await call(std::move(request));
    if (!told) {
      options_.logger.warn("a service is not served", {{"service", key}, {"error", told.error()}});
    }
  }
  reviving_ = false;
  revived_.notify_all();
  co_return known;
}

Task<void> HolderNetwork::watch() {
  for (;;) {
    Result<std::unique_ptr<net::LocalStream>> stream = connect_(holder());
    if (stream) {
      // It says nothing: what comes is its end.
      while (true) {
        const Result<std::string> bytes = co_await (*stream)->read();
        if (!bytes || bytes->empty()) {
          break;
        }
      }
    }
    const TaskContext& context = co_await current_context();
    if (context.stop.stop_requested()) {
      co_return;
    }
    options_.logger.warn("the pod network has lost its holder; starting another one", {});
    if (const Result<void> revived = co_await revive(); !revived) {
      options_.logger.error("the pod network has no holder", {{"error", revived.error()}});
      if (!co_await sleep_for(std::chrono::seconds(5))) {
        co_return;
      }
    }
  }
}

// The proxy has the machine's network, so it does not belong to the holder.
Task<void> HolderNetwork::keep_way_out() {
  for (;;) {
    Command command{.program = options_.program, .arguments = {"node-egress", options_.directory}};
    const Result<CommandResult> ended = co_await env_.launcher.run(std::move(command));
    const TaskContext& context = co_await current_context();
    if (context.stop.stop_requested()) {
      co_return;
    }
    options_.logger.warn(
        "the way out of the pod network has ended",
        {{"error", ended ? first_line(ended->error_output) : ended.error().message}});
    if (!co_await sleep_for(std::chrono::seconds(1))) {
      co_return;
    }
  }
}

Task<Result<HolderReply>> HolderNetwork::ask(HolderRequest request) {
  if (closed_) {
    co_return fail(unavailable("the pod network has ended"));
  }
  Result<HolderReply> reply = co_await call(request);
  if (reply || reply.error().code != ErrorCode::unavailable) {
    co_return reply;
  }
  CO_TRY(co_await revive());
  co_return co_await call(std::move(request));
}

Task<Result<void>> HolderNetwork::tell(HolderRequest request) {
  if (closed_) {
    co_return Result<void>();
  }
  CO_TRY(co_await ask(std::move(request)));
  co_return Result<void>();
}

Task<Result<std::string>> HolderNetwork::attach(PodRecord pod) {
  HolderRequest request{.verb = "attach", .pod = pod, .block = options_.block};
  CO_TRY_ASSIGN(const HolderReply reply, co_await ask(std::move(request)));
  pod.address = reply.answer.address;
  pods_.insert_or_assign(pod.uid, pod);
  co_return pod.address;
}

Task<Result<void>> HolderNetwork::detach(std::string uid) {
  if (!pods_.contains(uid) || closed_) {
    co_return Result<void>();
  }
  HolderRequest request{.verb = "detach", .pod = PodRecord{.uid = uid}};
  CO_TRY(co_await ask(std::move(request)));
  pods_.erase(uid);
  co_return Result<void>();
}

Task<Result<void>> HolderNetwork::keep(std::vector<std::string> uids) {
  const std::set<std::string> wanted(uids.begin(), uids.end());
  HolderRequest request{.verb = "keep", .names = std::move(uids)};
  CO_TRY(co_await ask(std::move(request)));
  std::erase_if(pods_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  co_return Result<void>();
}

Task<Result<void>> HolderNetwork::set_service(ServiceRecord service) {
  const std::string key = key_of(service);
  const auto known = services_.find(key);
  if (known != services_.end() && known->second == service) {
    co_return Result<void>();
  }
  HolderRequest request{.verb = "service", .service = service};
  CO_TRY(co_await tell(std::move(request)));
  services_.insert_or_assign(key, std::move(service));
  co_return Result<void>();
}

Task<Result<void>> HolderNetwork::forget_service(std::string key) {
  HolderRequest request{.verb = "forget", .names = {key}};
  services_.erase(key);
  co_return co_await tell(std::move(request));
}

Task<Result<void>> HolderNetwork::keep_services(std::vector<std::string> keys) {
  HolderRequest request{.verb = "services", .names = std::move(keys)};
  co_return co_await tell(std::move(request));
}

Task<Result<FileDescriptor>> HolderNetwork::ask_for_descriptor(HolderRequest request) {
  CO_TRY_ASSIGN(HolderReply reply, co_await ask(std::move(request)));
  if (reply.descriptors.empty()) {
    co_return fail(internal_error("the holder gave no descriptor"));
  }
  co_return std::move(reply.descriptors.front());
}

Task<Result<FileDescriptor>> HolderNetwork::socket(std::string uid) {
  HolderRequest request{.verb = "socket"};
  if (!uid.empty()) {
    request.pod = PodRecord{.uid = std::move(uid)};
  }
  co_return co_await ask_for_descriptor(std::move(request));
}

Task<Result<FileDescriptor>> HolderNetwork::listen(std::string address, std::uint16_t port) {
  HolderRequest request{.verb = "listen", .address = std::move(address), .port = port};
  co_return co_await ask_for_descriptor(std::move(request));
}

Task<void> HolderNetwork::stop() {
  closed_ = true;
  co_await group_.close();
  while (reviving_) {
    co_await revived_.wait_uncancellable();
  }
}

Task<void> HolderNetwork::shutdown() {
  co_await stop();
  HolderRequest request{.verb = "shutdown"};
  const Result<HolderReply> ended = co_await call(std::move(request));
  if (!ended && ended.error().code != ErrorCode::unavailable) {
    options_.logger.warn("the pod network did not end", {{"error", ended.error()}});
  }
}

Task<Result<void>> probe_network(Env env, std::string program, std::string directory) {
  return probe_daemon(env, {.program = std::move(program),
                            .name = "node-holder",
                            .directory = join_path(directory, "probe-network"),
                            .what = "the probe of the pod network"});
}

}  // namespace codeflare::node
