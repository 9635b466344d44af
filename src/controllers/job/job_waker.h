#pragma once

#include "base/async/loop.h"
#include "model/gvk.h"

#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace codeflare::controllers::job {

// Tells whose pods changed: of a small Job at once, of a large one after a moment, so that ten
// thousand changes of ten thousand pods do not become ten thousand looks at all of them.
class JobWaker {
 public:
  using Wake = std::function<void(const model::ObjectKey&)>;

  JobWaker(Loop& loop, Wake wake) : loop_(loop), wake_(std::move(wake)) {}
  ~JobWaker();
  JobWaker(const JobWaker&) = delete;
  JobWaker& operator=(const JobWaker&) = delete;

  void pod_changed(const model::ObjectKey& job, std::size_t pods);

 private:
  Loop& loop_;
  Wake wake_;
  std::map<model::ObjectKey, TimerId> due_;
};

}  // namespace codeflare::controllers::job
