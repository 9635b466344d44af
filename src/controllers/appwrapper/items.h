#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/appwrapper/item_watch.h"
#include "controllers/appwrapper/status_machine.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "controllers/submitter/submitter.h"
#include "kube/client.h"
#include "kube/config.h"
#include "model/app_wrapper.h"
#include "queue/demand.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers {

// An item to be looked at.
struct ItemQuery {
  queue::ItemInfo info;
  std::int64_t pods = 0;  // over its life, as far as its demand tells
};
std::vector<ItemQuery> queries_of(const queue::Demand& demand);

// Creates, looks at and deletes the wrapped objects of AppWrappers. Knows no status. Errors are
// those that pass: try again later. The AppWrapper that is passed in lives until the task ends.
class Items {
 public:
  // With `submitters` items are created in the name of whoever submitted the AppWrapper, else in
  // our own.
  Items(kube::Client& client, ItemWatch& watch, queue::InstrumentOptions options,
        std::optional<SubmitterTrust> submitters, Logger logger);

  // All items from this one on, in their order. Existing objects of ours count as created.
  // `annotations`: of pods, by pod set.
  Task<Result<Creation>> create(const model::AppWrapper& wrapper, std::size_t first,
                                std::map<std::uint32_t, model::StringMap> annotations);
  // How many were created before, after a crash: up to the last one that is there. Of those before
  // it one may have ended and been tidied up since; it does not run twice.
  Task<Result<std::size_t>> created(const model::AppWrapper& wrapper);
  // As the caches show them; what they do not show is asked for. `items` are all of its demand.
  Task<Result<std::vector<ItemSeen>>> look(const model::AppWrapper& wrapper,
                                           std::vector<ItemQuery> items);
  // Deletes what is left of them and returns the names of those that stay for now. With `force`
  // without grace, also what is being deleted already; what the server cannot even show stays.
  Task<Result<std::vector<std::string>>> take_back(const model::AppWrapper& wrapper, bool force);
  Task<Result<void>> delete_pods(std::vector<WrapperPods::PodRef> pods);
  // Puts our labels on items that another controller created, so that they are watched.
  Task<Result<void>> label(const model::AppWrapper& wrapper);

 private:
  struct ItemRef {
    model::ResourceType type;
    model::ObjectKey key;
  };
  Task<Result<ItemRef>> ref_of(queue::ItemInfo item);
  Task<Result<std::vector<ItemRef>>> refs(const model::AppWrapper& wrapper);
  Result<kube::Impersonation> creator(const model::AppWrapper& wrapper) const;
  Task<Result<Creation>> create_one(std::string body, ItemRef ref, std::string uid,
                                    kube::Impersonation creator);
  Task<Result<Creation>> examine(ItemRef ref, std::string uid);
  // How an item counts for the completion of its AppWrapper.
  struct Completion {
    bool awaited = false;
    std::string words{};  // its completionstatus; empty: its own end counts
  };
  Task<Result<ItemSeen>> look_at(ItemRef ref, std::string uid, Completion completion);
  Task<Result<kube::ObjectRef>> cached(ItemRef ref, std::string uid);
  Task<Result<bool>> take_back_one(ItemRef ref, std::string uid, bool force);
  Task<Result<bool>> remove(ItemRef ref, kube::ObjectRef object, bool force);
  Task<Result<bool>> remove_unseen(ItemRef ref, std::string uid, bool force);

  kube::Client& client_;
  ItemWatch& watch_;
  queue::InstrumentOptions options_;
  std::optional<SubmitterTrust> submitters_;
  Logger logger_;
};

}  // namespace codeflare::controllers
