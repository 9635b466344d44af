#pragma once

#include "controllers/appwrapper/status_machine.h"
#include "model/gvk.h"
#include "model/pod.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers {

// Whose pod it is: an AppWrapper by UID, or by name where only MCAD's label says so.
struct PodOwner {
  std::string uid{};
  model::ObjectKey key{};  // without a uid only
  friend auto operator<=>(const PodOwner&, const PodOwner&) = default;
  bool empty() const { return uid.empty() && key.name.empty(); }
};

PodOwner owner_of(const model::Pod& pod);

// The pods of AppWrappers in a few words each, so that a gang of a thousand pods is counted without
// reading a thousand objects.
class PodLedger {
 public:
  struct PodRef {
    model::ObjectKey key;
    std::string uid;
  };

  // Returns whose it is and was; empty ones of pods that belong to nobody.
  std::vector<PodOwner> upsert(const model::Pod& pod);
  PodOwner remove(const model::ObjectKey& key);

  PodsSeen seen(const std::string& uid, const model::ObjectKey& key) const;
  bool any(const std::string& uid, const model::ObjectKey& key) const;
  std::vector<PodRef> pods(const std::string& uid, const model::ObjectKey& key) const;

 private:
  enum class Phase : std::uint8_t { pending, running, succeeded, failed };
  struct Fact {
    std::string uid;
    Phase phase = Phase::pending;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t gpu = 0;
    std::string refusal;  // JSON of the conditions when a scheduler found no place
  };
  using Facts = std::map<model::ObjectKey, Fact>;

  static Fact fact_of(const model::Pod& pod);
  template <typename F>
  void for_each(const std::string& uid, const model::ObjectKey& key, F visit) const;

  std::map<PodOwner, Facts> facts_;
  std::map<model::ObjectKey, PodOwner> owners_;
};

}  // namespace codeflare::controllers
