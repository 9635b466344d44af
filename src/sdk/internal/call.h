#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "sdk/calls.h"
#include "sdk/clusters.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Common parts of every sdk::call(): its arguments, its answer and the way to its server.
namespace codeflare::sdk::internal {

// One call under way.
struct Call {
  CallContext context;
  json::Document arguments;

  std::string text(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  Duration seconds(std::string_view key) const;
  // Members of an object whose values are texts; other values are written as JSON.
  std::map<std::string, std::string> texts(std::string_view key) const;
};

using Answer = Result<std::string>;

struct CallEntry {
  std::string_view name;
  Task<Answer> (*run)(Call& call);
};

std::string written(const std::function<json::Value(json::Arena&)>& make);

// The way to the server of one call.
struct Server {
  std::unique_ptr<kube::Connection> connection;
  std::string ns;
  std::unique_ptr<kube::Client> client;
  std::unique_ptr<kube::Discovery> discovery;

  Clusters clusters() { return {*client, *discovery}; }
};

Result<kube::Config> config_for(const Call& call);
Task<Result<Server>> open(const Call& call);

// The argument `config`, read and checked.
Result<ClusterConfig> config_argument(const Call& call);

// The calls about jobs.
std::span<const CallEntry> job_calls();

}  // namespace codeflare::sdk::internal
