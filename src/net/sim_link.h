#pragma once

#include "base/env/random.h"
#include "base/time.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace codeflare::net {

// The faults of a simulated link; probabilities per request, 0 to 1, tried in this order.
struct LinkFaults {
  double refused = 0;        // no connection: `unavailable`, no effect
  double lost_request = 0;   // `deadline_exceeded`, no effect
  double lost_reply = 0;     // `deadline_exceeded`, but the effect happened
  double conflict = 0;       // 409 to a request that writes
  double throttled = 0;      // 429 with Retry-After
  double internal = 0;       // 500
  double unavailable = 0;    // 503
  double cut_stream = 0;     // the response body breaks off, perhaps within a piece; so does an
                             // upgraded connection
  double silent_stream = 0;  // the response body stays open and delivers nothing more

  // Uniform delays. Each way of a request, and each piece of a response body.
  Duration delay_max = std::chrono::milliseconds(20);
  Duration piece_delay_max = std::chrono::milliseconds(5);
  // When the sender of a lost request or reply notices.
  Duration loss_noticed_after = std::chrono::seconds(30);
  // A cut or silence comes after this many pieces at most.
  std::uint64_t pieces_before_fault_max = 8;
  std::uint64_t retry_after_seconds_max = 3;
};

// A network between a client and a service in one simulation. All choices come from `random`, so a
// seed names the faults. The target and `random` outlive this; response bodies may outlive it.
class SimLink final : public HttpService {
 public:
  SimLink(HttpService& target, Random& random, LinkFaults faults = {});
  ~SimLink() override;

  Task<Result<Response>> send(Request request) override;

  void set_faults(const LinkFaults& faults);
  // Nothing gets through: requests are lost and open streams deliver nothing.
  void partition();
  // Ends the partition and all faults; delays stay. A stream that fell silent stays so: a cut
  // connection does not come back either.
  void heal();
  // Builds the body of an answer that the link makes up; plain text unless set.
  using Answer = std::function<Response(int status)>;
  void set_answer(Answer answer);

  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;  // of any kind
  };
  Counts counts() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
  HttpService& target_;
};

}  // namespace codeflare::net
