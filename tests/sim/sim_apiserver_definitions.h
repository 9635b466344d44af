#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::sim {

inline const std::string kDefinitionCollection = "customresourcedefinitions.apiextensions.k8s.io";
inline const std::string kTrinketCollection = "trinkets.examples.codeflare.dev";

// A client that defines Trinkets in two versions, changes its mind about the one they are stored
// in, writes some in either, and deletes the definition while finalizers still hold some of them.
class DefinitionWriter {
 public:
  using Say = std::function<void(const std::string&)>;
  DefinitionWriter(Env env, kube::Client& client, Say say);

  // Until `over`.
  Task<void> work(const bool& over);
  // Takes the finalizers from Trinkets that are being deleted. Returns whether none is left.
  Task<bool> let_go();

  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  using Outcome = Result<kube::ObjectRef>;

  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  kube::ResourceType some_version();

  Task<void> step();
  Task<Outcome> define();
  Task<Outcome> store_otherwise();
  Task<Outcome> create();
  Task<Outcome> patch();
  Task<Outcome> remove();
  void note(const std::string& what, const Outcome& outcome);

  Env env_;
  kube::Client& client_;
  Say say_;
  std::map<std::string, std::uint64_t> counts_;
};

// The problem of an answer about Trinkets: it must be of the version that was asked for. Empty:
// nothing.
std::string wrong_version(std::string_view request, std::string_view body);

}  // namespace codeflare::sim
