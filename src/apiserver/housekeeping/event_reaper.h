#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/time.h"

#include <map>
#include <string>

namespace codeflare::apiserver {

// Removes events a while after they were last written. After a restart that moment is read from the
// event: the server's own times in its metadata, and those that its writer gave it.
class EventReaper {
 public:
  EventReaper(Env env, TaskGroup& group, Logger log, Store& store, net::HttpService& api,
              Duration time_to_live = std::chrono::hours(1));

 private:
  struct Entry {
    std::string ns;
    std::string name;
    Revision revision;
  };
  void remember(const Object& event, Duration age);
  Duration age_of(const Object& event) const;
  Task<void> run();
  Task<void> remove(Entry entry);

  Env env_;
  Logger log_;
  Store& store_;
  internal::ApiCaller api_;
  Duration time_to_live_;
  CollectionId events_;
  std::multimap<Instant, Entry> entries_;  // by when they are due
  WaitList added_;
};

}  // namespace codeflare::apiserver
