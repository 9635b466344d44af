#pragma once

#include "controllers/appwrapper/status_machine.h"
#include "model/gvk.h"
#include "model/pod_facts.h"
#include "queue/pod_trouble.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers {

// Whose pod it says it is: of the AppWrapper with this UID in the pod's namespace, or of the one
// with this name where only MCAD's label says so. Anybody may write any label, so neither reaches
// beyond the namespace.
struct PodOwner {
  std::string uid{};
  model::ObjectKey key{};  // with a uid its namespace alone
  friend auto operator<=>(const PodOwner&, const PodOwner&) = default;
  bool empty() const { return uid.empty() && key.name.empty(); }
};

PodOwner owner_of(const model::Pod& pod);

// The AppWrapper whose pods are asked for.
struct PodsOf {
  std::string uid;
  model::ObjectKey key;
  bool from_mcad = false;  // pods with MCAD's label alone are its own too
};

// The pods of AppWrappers in sums, so that a gang of a thousand pods is counted without a look at
// each of them.
class WrapperPods {
 public:
  struct PodRef {
    model::ObjectKey key;
    std::string uid;
  };
  // Whom a change concerns. It `matters` at once when it may decide something: the first or last
  // pod, active pod or unschedulable one. Other counts may wait for each other.
  struct News {
    PodOwner owner;
    bool matters = false;
  };

  // Whose it is and was; nobody when it belongs to no AppWrapper.
  std::vector<News> upsert(const model::Pod& pod);
  std::vector<News> remove(const model::ObjectKey& key);

  PodsSeen seen(const PodsOf& whose) const;
  bool any(const PodsOf& whose) const;
  std::vector<PodRef> pods(const PodsOf& whose) const;
  // Its pods start anew, or it is over: the trouble of pods that are gone is not wanted any more.
  void forget_trouble(const std::string& uid);

 private:
  using Phase = model::PodPhase;
  struct Fact {
    std::string uid;
    Phase phase = Phase::pending;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t gpu = 0;
    std::string refusal;  // JSON of the conditions when a scheduler found no place
    std::shared_ptr<const queue::PodTrouble> trouble{};  // null: none
  };
  struct Book {
    std::map<model::ObjectKey, Fact> facts;
    std::set<model::ObjectKey> refused;
    std::set<model::ObjectKey> troubled;
    PodsSeen sums;  // all but the list of unschedulable ones
  };
  // The view of a Book for those who decide.
  struct Signs {
    bool any = false;
    bool active = false;
    bool refused = false;
    bool troubled = false;
    friend bool operator==(const Signs&, const Signs&) = default;
  };

  Fact fact_of(const Book& book, const model::Pod& pod) const;
  void remember(const PodOwner& owner, const Fact& fact);
  static void count(PodsSeen& sums, const Fact& fact, int sign);
  static Signs signs(const Book& book);
  static void put(Book& book, const model::ObjectKey& key, Fact fact);
  static void take(Book& book, const model::ObjectKey& key);
  template <typename F>
  void for_each(const PodsOf& whose, F visit) const;

  std::map<PodOwner, Book> books_;
  std::map<model::ObjectKey, PodOwner> owners_;
  // By UID, the worst of pods that are gone: a Job deletes those that failed.
  std::map<std::string, std::shared_ptr<const queue::PodTrouble>> departed_;
};

}  // namespace codeflare::controllers
