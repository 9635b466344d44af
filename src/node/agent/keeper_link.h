#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "net/local_stream.h"
#include "node/wire/frame.h"
#include "node/wire/keeper_protocol.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::node {

// The agent's side of the connection to one keeper. Requests are answered in order; every state
// that comes, asked for or not, is passed on. run() has to be running for anything to happen, and
// ends when the keeper is gone.
class KeeperLink {
 public:
  using OnState = std::function<void(const KeeperAnswer&)>;
  KeeperLink(std::unique_ptr<net::LocalStream> stream, OnState on_state);

  Task<void> run();
  bool open() const { return open_; }

  // Fails with `unavailable` when the keeper goes before it has answered, or takes nothing more,
  // with failed_precondition when it rejects the request.
  Task<Result<void>> call(KeeperRequest request);

 private:
  struct Waiting {
    std::optional<KeeperAnswer> answer;
    bool lost = false;
  };
  Result<void> take_frames();
  Task<Result<void>> answered(std::shared_ptr<Waiting> mine);

  std::unique_ptr<net::LocalStream> stream_;
  OnState on_state_;
  bool open_ = true;
  StopSource broken_;  // half a frame was written: nothing more can come of it
  bool writing_ = false;
  FrameReader frames_;
  std::deque<std::shared_ptr<Waiting>> waiting_;
  WaitList changed_;
};

}  // namespace codeflare::node
