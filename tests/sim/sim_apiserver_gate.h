#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "net/http.h"
#include "tests/sim/sim_apiserver_ledger.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace codeflare::sim {

// Where the API server stands on the network, through all its lives: nobody is at home between two
// of them, and a crash resets every connection. Tells the ledger what is answered.
class Gate final : public net::HttpService {
 public:
  explicit Gate(Ledger& ledger) : ledger_(ledger) {}

  Task<Result<net::Response>> send(net::Request request) override;

  void open(net::HttpService& server) { server_ = &server; }
  // Nothing of the server's answers gets out any more.
  void reset();
  // Until nothing holds on to the server; it must be stopping.
  Task<void> drained();

  // A planted bug: every so many events one is swallowed; 0: none.
  void swallow_every(std::uint64_t events) { swallow_every_ = events; }

  std::uint64_t refusals(int status) const;
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  class Stream;

  bool swallows() { return ++events_ % swallow_every_ == 0; }
  Task<Result<net::Response>> answer(net::Request request, std::uint64_t life);
  void check(const std::string& request, int status, std::uint64_t asked_at,
             const std::string& there, const std::string& body);
  void leave();

  Ledger& ledger_;
  net::HttpService* server_ = nullptr;
  std::uint64_t life_ = 0;
  std::size_t inside_ = 0;  // requests and reads
  WaitList left_;
  std::vector<Stream*> streams_;
  std::uint64_t swallow_every_ = 0;
  std::uint64_t events_ = 0;
  std::map<int, std::uint64_t> refusals_;
  std::vector<std::string> violations_;
};

}  // namespace codeflare::sim
