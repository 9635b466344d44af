#pragma once

#include "apiserver/store/store.h"
#include "json/parse.h"
#include "model/meta.h"
#include "tests/sim/quota_book.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::sim {

// Sees every commit of every server of a hub and its workers, past all networks: work on two
// clusters, work that runs again after its end, and plans over the hub's quota must never be seen.
// Work is known by the name of its Job, which is that of its AppWrapper.
class DispatchJudge {
 public:
  using Say = std::function<void(const std::string&)>;
  explicit DispatchJudge(Say say) : say_(std::move(say)) {}

  // From its first commit on.
  void follow(apiserver::Store& store, std::string cluster);

  // Work that ended there while the hub could not hear of it may run again elsewhere.
  void fence(std::string cluster) { fenced_.insert(std::move(cluster)); }

  // Work that the hub has, by name, and its state.
  const std::map<std::string, std::string>& works() const { return works_; }
  // "east has Job a": what is there of AppWrappers, Jobs and their pods; empty: nothing.
  std::string left_over() const;

  const std::vector<std::string>& violations() const { return violations_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  using Where = std::map<std::string, std::set<std::string>>;  // by cluster: names

  void commit(const std::string& cluster, std::string_view collection,
              const apiserver::Event& event);
  void job_changed(const std::string& cluster, const apiserver::Event& event);
  void pod_changed(const std::string& cluster, const apiserver::Event& event);
  void wrapper_changed(const std::string& cluster, const apiserver::Event& event);
  void check(const std::string& work, const Where& where, const char* what);
  void note_holding(const std::string& work, const json::Document& document);
  // CPUs of its plan on the hub without pods that have succeeded, or of its pods anywhere if they
  // have more.
  QuotaBook::Charge charge_of(const std::string& work) const;
  void violation(std::string what);

  Say say_;
  std::map<std::string, Where> jobs_;                  // by work
  std::map<std::string, Where> pods_;                  // that may run, by work
  std::map<std::string, std::set<std::string>> done_;  // UIDs of Jobs that completed, by work
  std::map<std::string, std::string> ended_;           // where its copy ended, by work
  std::map<std::string, std::string> works_;
  QuotaBook quotas_;                                        // of the hub
  std::map<std::string, QuotaBook::Charge> plans_;          // on the hub, by work
  std::map<std::string, model::StringMap> labels_;          // by work
  std::map<std::string, std::set<std::string>> succeeded_;  // pods since its plan, by work
  std::set<std::string> wrappers_;                          // "east/a"
  std::set<std::string> fenced_;
  std::set<std::string> finished_;  // "east/a": Jobs that completed
  std::set<std::string> stopped_;   // UIDs of copies
  std::vector<std::string> violations_;
  std::map<std::string, std::uint64_t> counts_;
};

// Copies of another hub: nobody here may touch them.
inline constexpr std::string_view kForeignPrefix = "foreign-";

}  // namespace codeflare::sim
