#pragma once

#include "base/async/loop.h"
#include "node/stream/pod_streams.h"
#include "node/wire/stream_protocol.h"

#include <functional>
#include <string>

namespace codeflare::node {

// Streams of pods that have keepers: asks them for descriptors, on a connection per call.
class KeeperStreams final : public PodStreams {
 public:
  // Where the keeper of a pod listens.
  using SocketOf = std::function<std::string(const std::string& uid)>;
  KeeperStreams(Loop& loop, SocketOf socket_of) : loop_(loop), socket_of_(std::move(socket_of)) {}

  Task<Result<std::unique_ptr<StreamedProcess>>> exec(std::string uid,
                                                      ExecOptions options) override;
  Task<Result<std::unique_ptr<StreamedProcess>>> attach(std::string uid,
                                                        std::string container) override;
  Task<Result<std::unique_ptr<net::ByteStream>>> dial(std::string uid, std::uint16_t port) override;

 private:
  struct Call;
  class Process;
  Task<Result<Call>> ask(std::string uid, StreamRequest request);
  Task<Result<std::unique_ptr<StreamedProcess>>> start(std::string uid, StreamRequest request);
  Task<Result<std::unique_ptr<net::ByteStream>>> dial_at(std::string uid, std::string address,
                                                         std::uint16_t port);

  Loop& loop_;
  SocketOf socket_of_;
};

}  // namespace codeflare::node
