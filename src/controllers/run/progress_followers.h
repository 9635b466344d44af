#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "platform/progress_pattern.h"
#include "runtime/informer.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::controllers::runs {

// Whose log is followed.
struct ProgressSource {
  std::string uid;  // of the Run
  model::ObjectKey pod;
  std::string container;
  std::string pattern;

  friend bool operator==(const ProgressSource&, const ProgressSource&) = default;
};

// Follows the logs of running Runs and keeps the last progress of each. Runs beyond the limit are
// followed when another one ends. Nothing is lost by a restart: the log is read again from near
// its end.
class ProgressFollowers {
 public:
  static constexpr std::size_t kFollowersMax = 64;
  // A Run is woken for new progress at most this often.
  static constexpr Duration kPublishEvery = std::chrono::seconds(5);

  ProgressFollowers(Env env, kube::Client& client, runtime::Informer& runs);

  // `wake` is called when published() of a Run has changed.
  void wakes(std::function<void(const model::ObjectKey&)> wake) { wake_ = std::move(wake); }

  // The progress that the Run's status should show by now; nothing before the first.
  std::optional<platform::Progress> published(const std::string& uid) const;
  // The same without regard to the pace, for a status that is written anyway.
  std::optional<platform::Progress> last(const std::string& uid) const;
  std::size_t following() const { return followed_; }

  // Until stopped.
  Task<void> run();

 private:
  struct Entry {
    model::ObjectKey run;
    ProgressSource source;
    bool followed = false;
    bool ending = false;  // the Run has ended; the rest of its log is read
    bool done = false;    // the log is read
    StopSource stop{};
    std::optional<platform::Progress> last{};
    std::optional<platform::Progress> published{};
    std::optional<Instant> published_at{};
  };

  void change(const runtime::ObjectChange& change);
  void start_followers(TaskGroup& group);
  void publish();
  bool anything_to_publish() const;
  Task<void> follow(std::string uid, ProgressSource source, StopToken stop);
  Task<Result<void>> read_log(std::string uid, ProgressSource source,
                              platform::ProgressReader& reader);

  Env env_;
  kube::Client& client_;
  std::function<void(const model::ObjectKey&)> wake_;
  std::map<std::string, Entry> entries_;  // by UID of the Run
  std::size_t followed_ = 0;
  WaitList changed_;
};

}  // namespace codeflare::controllers::runs
