#pragma once

#include "base/async/sleep.h"
#include "node/agent/probe_network.h"
#include "node/stream/container_exec.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::node::testing {

// A network and programs with scripted answers, after `delay`.
class ScriptedProbes final : public ProbeNetwork, public ContainerExec {
 public:
  std::map<std::string, int> statuses{};  // by target; absent: nobody listens
  std::map<std::uint16_t, bool> ports{};  // who accepts
  std::map<std::string, ExecOutcome> programs{};
  Duration delay{};
  std::vector<std::string> asked{};

  Task<Result<int>> get(ProbeUrl url, net::Headers headers) override {
    asked.push_back("GET " + url.host + ":" + std::to_string(url.port) + url.target + from(url));
    static_cast<void>(headers);
    CO_TRY(co_await sleep_for(delay));
    const auto found = statuses.find(url.target);
    if (found == statuses.end()) {
      co_return fail(unavailable("connection refused"));
    }
    co_return found->second;
  }
  Task<Result<void>> connect(ProbeUrl url) override {
    asked.push_back("connect " + url.host + ":" + std::to_string(url.port) + from(url));
    CO_TRY(co_await sleep_for(delay));
    const auto found = ports.find(url.port);
    co_return found != ports.end() && found->second ? Result<void>()
                                                    : fail(unavailable("connection refused"));
  }
  Task<Result<ExecOutcome>> run(ExecCommand command) override {
    asked.push_back("exec " + command.uid + "/" + command.container + " " +
                    command.command.front());
    CO_TRY(co_await sleep_for(delay));
    const auto found = programs.find(command.command.front());
    if (found == programs.end()) {
      co_return fail(not_found("executable file not found in $PATH"));
    }
    co_return found->second;
  }

 private:
  static std::string from(const ProbeUrl& url) {
    return !url.network ? "" : url.network->empty() ? " from all pods'" : " from " + *url.network;
  }
};

}  // namespace codeflare::node::testing
