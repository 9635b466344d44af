#pragma once

#include "apiserver/store/store.h"
#include "kube/object.h"
#include "tests/sim/watch_check.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sim {

// Everything that an API server ever showed to anybody, through all its lives, and whether it keeps
// its word: what was shown is there after a crash, answers are neither made up nor stale, and
// revisions go forward.
class Ledger {
 public:
  using Objects = std::map<model::ObjectKey, kube::ObjectRef>;

  // A store as it came from the log: compares, then follows it.
  void opened(apiserver::Store& store);

  // An answer that a client may see. `asked_at` is revision() when the request came in.
  void answered_write(std::string_view request, std::string_view body);
  void answered_read(std::string_view request, std::uint64_t asked_at, std::string_view body);

  std::uint64_t revision() const { return revision_; }
  const Truth& truth(const std::string& collection) { return collections_[collection].truth; }
  const Objects& objects(const std::string& collection) { return collections_[collection].objects; }
  // The uid of what stands there, empty: nothing does.
  std::string uid_at(const std::string& collection, const model::ObjectKey& key) const;
  bool has_uid(std::string_view uid) const;

  // Nothing is under way any more: what must not be left over.
  void check_rest();

  // No commit may leave more objects than this in the namespace.
  void set_limit(std::string collection, std::string ns, std::size_t most);

  std::uint64_t commits() const { return commits_; }
  std::uint64_t answers() const { return answers_; }
  // Writes that a crash kept although nobody was answered.
  std::uint64_t surprises() const { return surprises_; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Collection {
    Truth truth;
    Objects objects;
  };
  struct Limit {
    std::string collection;
    std::string ns;
    std::size_t most = 0;
  };
  // The revisions of one object; the last one may be its end.
  struct Life {
    std::vector<std::uint64_t> revisions;
    bool ended = false;
  };

  void commit(const std::string& collection, const apiserver::Event& event);
  void take_over(const std::string& name, Objects found, std::uint64_t revision);
  void change(Collection& collection, const Truth::Change& change);
  void check_limits() const;
  void violation(std::string what) const { violations_.push_back(std::move(what)); }

  std::map<std::string, Collection> collections_;
  std::map<std::string, Life, std::less<>> lives_;  // by uid
  std::vector<Limit> limits_;
  std::uint64_t revision_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t surprises_ = 0;
  mutable std::vector<std::string> violations_;
};

}  // namespace codeflare::sim
