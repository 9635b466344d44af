#pragma once

#include "kube/testing/scripted_store.h"
#include "kube/watcher.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::sim {

// Everything that ever happened to the objects of one collection, whatever the server forgot.
class Truth {
 public:
  using Change = kube::testing::ScriptedStore::Change;
  using State = std::map<model::ObjectKey, std::string>;  // resourceVersion
  using Selects = std::function<bool(const kube::Object&)>;

  void add(const Change& change) { changes_.push_back(change); }
  State state_at(std::uint64_t revision, const Selects& selects) const;

  struct Expected {
    std::uint64_t revision = 0;
    model::ObjectKey key;
    bool deleted = false;
  };
  // The first change after `revision`, and not after `last`, that a watch must tell.
  std::optional<Expected> next_after(std::uint64_t revision, std::uint64_t last,
                                     const Selects& selects) const;

 private:
  std::vector<Change> changes_;
};

// Follows what one watcher says and holds it against the truth: a list is the state at its version,
// then every change comes once and in order, and none is left out.
class WatchCheck {
 public:
  WatchCheck(std::string name, const Truth& truth, Truth::Selects selects)
      : name_(std::move(name)), truth_(truth), selects_(std::move(selects)) {}

  void observe(const kube::WatcherEvent& event);
  // Nothing more will happen: the map is the state of now.
  void finish(std::uint64_t revision);

  bool synced() const { return synced_; }
  bool equals(std::uint64_t revision) const;
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t lists() const { return lists_; }

 private:
  void finish_list(std::uint64_t revision);
  void change(const kube::WatcherEvent& event, bool deleted);
  void violation(const std::string& what);

  std::string name_;
  const Truth& truth_;
  Truth::Selects selects_;
  Truth::State state_;
  Truth::State list_;
  bool listing_ = false;
  bool synced_ = false;
  std::uint64_t position_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t lists_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace codeflare::sim
