#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/time.h"

#include <deque>
#include <string>

namespace codeflare::apiserver {

// Removes events a while after they were last written. After a restart that time begins anew.
class EventReaper {
 public:
  EventReaper(Env env, TaskGroup& group, Logger log, Store& store, net::HttpService& api,
              Duration time_to_live = std::chrono::hours(1));

 private:
  struct Entry {
    Instant due;
    std::string ns;
    std::string name;
    Revision revision;
  };
  void remember(const Object& event);
  Task<void> run();
  Task<void> remove(Entry entry);

  Env env_;
  Logger log_;
  Store& store_;
  internal::ApiCaller api_;
  Duration time_to_live_;
  CollectionId events_;
  std::deque<Entry> entries_;  // in order of `due`
  WaitList added_;
};

}  // namespace codeflare::apiserver
