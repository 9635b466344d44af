#include "node/holder/internal/real_holder.h"

#include "node/holder/cluster_names.h"
#include "node/holder/internal/real_sockets.h"
#include "node/system/descriptors.h"
#include "node/system/host_path.h"
#include "node/system/mounts.h"
#include "node/wire/message.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <iterator>
#include <set>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::size_t kClientsMax = 64;

}  // namespace

Holder::Holder(Parts parts)
    : directory_(std::move(parts.directory)),
      plan_(parts.plan),
      listener_(std::move(parts.listener)),
      links_(std::move(parts.links)),
      anchor_(std::move(parts.anchor)),
      poller_(std::move(parts.poller)),
      addresses_(plan_.pods, plan_.gateway),
      tcp_(poller_, services_),
      udp_(poller_, services_),
      dns_(poller_, [this](const DnsQuery& query) {
        return resolve(
            services_, [this](Ipv4 address) { return namespace_of(address); }, query, turn_++);
      }) {}

Result<void> Holder::open() {
  TRY(load());
  TRY(dns_.listen({plan_.gateway, kDnsPort}));
  TRY(poller_.add(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_client(); }));
  TRY_ASSIGN(anchor_id_,
             poller_.add(anchor_.watch.get(), EPOLLIN, [this](std::uint32_t) { anchor_ended(); }));
  return {};
}

Result<void> Holder::run() {
  while (!ending_) {
    TRY(poller_.turn());
  }
  // Nobody may find a socket that nobody listens at.
  ::unlink((directory_ + "/holder.sock").c_str());
  end_anchor(anchor_);
  return {};
}

// Damaged, it is put aside when no pod has a network: all that is lost then is who had which
// address. Else somebody has to look at it, because others would get the addresses of pods that
// run.
Result<NetworkState> Holder::read_state(const std::string& text, bool in_use) const {
  Result<NetworkState> state = parse_message<NetworkState>(text);
  const std::string path = directory_ + "/network.json";
  if (state || in_use) {
    return state ? std::move(state) : fail(std::move(state).error().with_context(path));
  }
  if (::rename(path.c_str(), (path + ".damaged").c_str()) != 0) {
    return fail(posix_error(errno, "put aside " + path));
  }
  return NetworkState();
}

// Addresses that an earlier holder gave stay given, whether its pods run or not.
Result<void> Holder::load() {
  const Result<std::string> text = read_whole_file(directory_ + "/network.json");
  if (!text && text.error().code != ErrorCode::not_found) {
    return fail(text.error());
  }
  TRY_ASSIGN(const std::vector<std::string> networks, links_.list());
  if (text) {
    TRY_ASSIGN(const NetworkState state, read_state(*text, !networks.empty()));
    for (const PodRecord& pod : state.pods) {
      const auto address = Ipv4::parse(pod.address);
      if (address && addresses_.put_back(pod.uid, *address)) {
        pods_.insert_or_assign(pod.uid, pod);
      }
    }
    addresses_.set_last(Ipv4::parse(state.last_address).value_or(Ipv4{}));
  }
  for (const std::string& uid : networks) {
    if (!pods_.contains(uid)) {
      TRY(links_.detach(uid, {}));
    }
  }
  return {};
}

Result<void> Holder::save() const {
  NetworkState state;
  for (const auto& [uid, pod] : pods_) {
    state.pods.push_back(pod);
  }
  state.last_address = addresses_.last().to_string();
  const std::string path = directory_ + "/network.json";
  TRY(write_small_file(path + ".new", model::to_json_text(state)));
  // Else a power cut may leave the name without the content.
  const FileDescriptor written(::open((path + ".new").c_str(), O_RDONLY | O_CLOEXEC));
  if (!written || ::fsync(written.get()) != 0) {
    return fail(posix_error(errno, "sync " + path));
  }
  if (::rename((path + ".new").c_str(), path.c_str()) != 0) {
    return fail(posix_error(errno, "rename to " + path));
  }
  return {};
}

std::string Holder::namespace_of(Ipv4 address) const {
  const std::optional<std::string> uid = addresses_.owner(address);
  const auto pod = uid ? pods_.find(*uid) : pods_.end();
  return pod == pods_.end() ? std::string() : pod->second.ns;
}

// Somebody has to be there when we are not.
void Holder::anchor_ended() {
  poller_.remove(std::exchange(anchor_id_, 0));
  ::waitpid(anchor_.process, nullptr, WNOHANG);
  Result<Anchor> another = start_anchor(directory_);
  if (!another) {
    return;
  }
  anchor_ = *std::move(another);
  anchor_id_ = poller_.add(anchor_.watch.get(), EPOLLIN, [this](std::uint32_t) { anchor_ended(); })
                   .value_or(0);
}

void Holder::accept_client() {
  FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || clients_.size() >= kClientsMax) {
    return;
  }
  const std::uint64_t number = next_++;
  const Result<Poller::Id> id =
      poller_.add(socket.get(), EPOLLIN, [this, number](std::uint32_t) { read_client(number); });
  if (id) {
    clients_.emplace(number, Client{.socket = std::move(socket), .id = *id});
  }
}

void Holder::end_client(std::uint64_t number) {
  const auto found = clients_.find(number);
  poller_.remove(found->second.id);
  clients_.erase(found);
}

void Holder::read_client(std::uint64_t number) {
  Client& client = clients_.find(number)->second;
  std::array<char, 65536> buffer;
  const ssize_t size = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (size <= 0) {
    end_client(number);
    return;
  }
  client.frames.add({buffer.data(), static_cast<std::size_t>(size)});
  for (;;) {
    const Result<std::optional<std::string>> next = client.frames.next();
    if (next && !*next) {
      return;
    }
    if (!next || !answer(client, **next)) {
      end_client(number);
      return;
    }
  }
}

bool Holder::answer(const Client& client, std::string_view text) {
  const Result<HolderRequest> request = parse_message<HolderRequest>(text);
  Result<Reply> reply = request ? carry_out(*request) : fail(request.error());
  Reply sent;
  if (reply) {
    sent = *std::move(reply);
  } else {
    sent.answer.error = reply.error().message;
  }
  sent.answer.gateway = plan_.gateway.to_string();
  sent.answer.process = ::getpid();
  std::vector<int> descriptors;
  for (const FileDescriptor& descriptor : sent.descriptors) {
    descriptors.push_back(descriptor.get());
  }
  return send_with_descriptors(client.socket.get(), framed(sent.answer), descriptors).has_value();
}

Result<Holder::Reply> Holder::carry_out(const HolderRequest& request) {
  const std::string& verb = request.verb;
  const std::string uid = request.pod ? request.pod->uid : std::string();
  if (verb == "state") {
    Reply reply;
    for (const auto& [known, pod] : pods_) {
      reply.answer.pods.push_back(pod);
    }
    return reply;
  }
  if (verb == "attach") {
    return attach(request);
  }
  if (verb == "join") {
    return join(uid);
  }
  if (verb == "socket") {
    return make_socket(pod_of(request));
  }
  if (verb == "listen") {
    return listen_for(request);
  }
  if (verb == "resolve" && request.names.size() == 1) {
    return resolve_host(request);
  }
  if (verb == "detach") {
    TRY(detach(uid));
  } else if (verb == "keep") {
    TRY(keep(request.names));
  } else if (verb == "service" && request.service) {
    services_.set(*request.service);
    if (const auto address = Ipv4::parse(request.service->address)) {
      TRY(take_address(*address));
    }
    TRY(services_changed(request.service->address));
  } else if (verb == "forget") {
    for (const std::string& key : request.names) {
      services_.forget(key);
    }
    TRY(services_changed());
  } else if (verb == "services") {
    services_.keep(request.names);
    TRY(services_changed());
  } else if (verb == "shutdown") {
    ending_ = true;
  } else {
    return fail(unsupported("unknown request \"" + verb + "\""));
  }
  return Reply();
}

Result<Holder::Reply> Holder::attach(const HolderRequest& request) {
  // UIDs become names of files.
  if (!request.pod || !is_plain_name(request.pod->uid)) {
    return fail(invalid_argument("a pod needs a UID"));
  }
  PodRecord pod = *request.pod;
  Ipv4Block block = plan_.pods;
  if (!request.block.empty()) {
    TRY_ASSIGN(block, Ipv4Block::parse(request.block));
  }
  const bool known = pods_.contains(pod.uid);
  TRY_ASSIGN(const Ipv4 address, addresses_.take(pod.uid, block));
  pod.address = address.to_string();
  Reply reply;
  reply.answer.address = pod.address;
  if (known && links_.has(pod.uid)) {
    return reply;
  }
  pods_.insert_or_assign(pod.uid, pod);
  // Written before it is used: nobody else may get it whatever happens next.
  Result<void> made = save();
  if (made) {
    made = links_.attach(pod.uid, address);
  }
  if (!made) {
    if (!known) {
      addresses_.release(pod.uid);
      pods_.erase(pod.uid);
    }
    return fail(std::move(made).error());
  }
  return reply;
}

Result<void> Holder::detach(const std::string& uid) {
  const std::optional<Ipv4> address = addresses_.of(uid);
  if (!is_plain_name(uid) || !address) {
    return {};
  }
  TRY(links_.detach(uid, *address));
  addresses_.release(uid);
  pods_.erase(uid);
  return save();
}

Result<void> Holder::keep(const std::vector<std::string>& uids) {
  const std::set<std::string> wanted(uids.begin(), uids.end());
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : pods_) {
    if (!wanted.contains(uid)) {
      gone.push_back(uid);
    }
  }
  // One that cannot be released does not keep the others.
  Result<void> result;
  for (const std::string& uid : gone) {
    if (Result<void> detached = detach(uid); !detached) {
      result = std::move(detached);
    }
  }
  return result;
}

Result<Holder::Reply> Holder::join(const std::string& uid) {
  if (!pods_.contains(uid)) {
    return fail(not_found("pod " + uid + " has no network"));
  }
  FileDescriptor user(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  if (!user) {
    return fail(posix_error(errno, "open our user namespace"));
  }
  TRY_ASSIGN(FileDescriptor network, links_.namespace_of(uid));
  Reply reply;
  reply.descriptors.push_back(std::move(user));
  reply.descriptors.push_back(std::move(network));
  return reply;
}

Result<Holder::Reply> Holder::make_socket(const std::string& uid) {
  Reply reply;
  const auto make = [&]() -> Result<void> {
    TRY_ASSIGN(FileDescriptor socket, tcp_socket());
    reply.descriptors.push_back(std::move(socket));
    return {};
  };
  if (uid.empty()) {
    TRY(make());
  } else if (pods_.contains(uid)) {
    TRY(links_.within(uid, make));
  } else {
    return fail(not_found("pod " + uid + " has no network"));
  }
  return reply;
}

Result<Holder::Reply> Holder::listen_for(const HolderRequest& request) {
  const auto address = Ipv4::parse(request.address);
  if (!address || request.port < 0 || request.port > 65535) {
    return fail(invalid_argument("\"" + request.address + "\" port " +
                                 std::to_string(request.port) + " cannot be listened at"));
  }
  TRY(take_address(*address));
  TRY_ASSIGN(FileDescriptor socket,
             listen_tcp({*address, static_cast<std::uint16_t>(request.port)}));
  Reply reply;
  reply.descriptors.push_back(std::move(socket));
  return reply;
}

// Those of our plan lead here from the beginning. A cluster that we joined may have another block
// for its services, which nobody tells; its addresses are taken as they come.
Result<void> Holder::take_address(Ipv4 address) {
  if (plan_.services.contains(address) || plan_.pods.contains(address)) {
    return {};
  }
  return links_.add_local(address);
}

std::string Holder::pod_of(const HolderRequest& request) const {
  if (!request.pod || !request.pod->uid.empty()) {
    return request.pod ? request.pod->uid : std::string();
  }
  const auto address = Ipv4::parse(request.pod->address);
  return address ? addresses_.owner(*address).value_or(std::string()) : std::string();
}

Result<Holder::Reply> Holder::resolve_host(const HolderRequest& request) {
  const auto pod = pods_.find(pod_of(request));
  const HostQuery query{.host = request.names.front(),
                        .ns = pod == pods_.end() ? "default" : pod->second.ns,
                        .turn = turn_++};
  const auto address = find_host(services_, [this](Ipv4 at) { return namespace_of(at); }, query);
  if (!address) {
    return fail(not_found("there is no pod or service " + query.host));
  }
  Reply reply;
  reply.answer.address = address->to_string();
  reply.answer.inside = plan_.pods.contains(*address) || plan_.services.contains(*address) ||
                        services_.has_address(*address);
  return reply;
}

Result<void> Holder::services_changed(const std::string& address) {
  std::vector<ListenFailure> failures = tcp_.update();
  std::ranges::move(udp_.update(), std::back_inserter(failures));
  for (const ListenFailure& failure : failures) {
    if (failure.address.at.address.to_string() == address) {
      return fail(failure.error);
    }
  }
  return {};
}

}  // namespace codeflare::node::internal
