#pragma once

#include "runtime/informer.h"
#include "tests/sim/watch_check.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace codeflare::sim {

// Hears what the handlers of one informer hear and holds it against the truth: of each object a
// chain in which every change begins where the one before ended, of versions that were there and
// only get newer, and its end when it has ended. A list may skip versions. Before the first list is
// complete objects may be withdrawn: it can break off and be answered anew by an older server.
class InformerCheck {
 public:
  InformerCheck(std::string name, const Truth& truth, Truth::Selects selects)
      : name_(std::move(name)), truth_(truth), selects_(std::move(selects)) {}

  void observe(const runtime::ObjectChange& change, const runtime::Informer& informer);
  // Nothing more will happen: the events add up to the state of now.
  void finish(std::uint64_t revision);

  bool equals(std::uint64_t revision) const;
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t changes() const { return changes_; }

 private:
  void check_present(const kube::Object& now);
  void check_gone(const kube::Object& last, const kube::Object& told);
  void violation(const std::string& what);

  std::string name_;
  const Truth& truth_;
  Truth::Selects selects_;
  std::map<model::ObjectKey, kube::ObjectRef> told_;
  std::uint64_t changes_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace codeflare::sim
