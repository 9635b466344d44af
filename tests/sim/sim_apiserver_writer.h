#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/time.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::sim {

// A client that does whatever comes to its mind with Greetings, ConfigMaps and namespaces: owners
// that are there and owners that are not, finalizers, all three ways to delete, collections, the
// ConfigMaps that belong to the controller, and a namespace with a quota.
class RandomWriter {
 public:
  using Say = std::function<void(const std::string&)>;
  RandomWriter(Env env, kube::Client& client, std::string name, Say say);

  // Until `over`.
  Task<void> work(const bool& over);
  // Takes the finalizers away that work() put on objects which are being deleted now. Returns
  // whether all were found and none is left.
  Task<bool> let_go();

  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  using Outcome = Result<kube::ObjectRef>;

  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  bool one_in(std::uint64_t bound) { return pick(bound) == 0; }
  std::string some_namespace();
  kube::ObjectKey some_greeting();
  // An own ConfigMap. Owners have lower numbers than what they own, so nobody owns himself.
  kube::ObjectKey some_map(std::uint64_t below);
  std::string metadata(const kube::ObjectKey& key, const std::string& more);
  kube::DeleteOptions some_removal();

  Task<void> step();
  Task<Outcome> write_greeting();
  Task<Outcome> write_map();
  Task<Outcome> patch_map();
  Task<Outcome> fill_quota();
  Task<Outcome> change_namespace();
  Task<Outcome> remove_something();
  Task<Outcome> remove_many();
  Task<std::string> some_owners(std::string ns, std::uint64_t number);
  Task<bool> let_go_of(kube::ResourceType type);
  void note(const std::string& what, const Outcome& outcome);

  Env env_;
  kube::Client& client_;
  std::string name_;
  Say say_;
  std::map<std::string, std::uint64_t> counts_;
};

inline const kube::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
inline const std::string kQuotaNamespace = "team";
inline constexpr std::uint64_t kQuota = 4;

}  // namespace codeflare::sim
