#pragma once

#include "base/text_map.h"
#include "base/time.h"
#include "controllers/appwrapper/write_pace.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>

namespace codeflare::controllers {

// Writes that can wait: reasons to wait, conditions of pods without a node, and counts that are
// only nice to know. Starts and ends of work always go first. Pure: the caller passes the time and
// how much its workers still have to do.
class DeferredWrites {
 public:
  // Keys that wait for a worker or are with one; asked again after each release.
  using Unfinished = std::function<std::size_t()>;
  // Starts the write; false when nobody is concerned any more.
  using Go = std::function<bool(const std::string& uid)>;

  // A write of ours took this long.
  void wrote(Duration took, Instant now) { pace_.add(took, now); }
  // Starts and ends wait in numbers, for workers or for the server.
  bool flooded(std::size_t unfinished, Instant now) const;

  void add_refusal(const std::string& uid, Instant now) { refused_.add(uid, now); }
  void add_unplaced(const std::string& uid, Instant now) { unplaced_.add(uid, now); }
  // Whether an unimportant write may go now. If not, it is in line.
  bool may_write_idly(const std::string& uid, std::size_t unfinished, Instant now);
  void forget(const std::string& uid);

  struct Release {
    Go refusal;
    Go unplaced;
    Go idle;
  };
  // Lets those go whose turn it is.
  void release(Instant now, const Unfinished& unfinished, const Release& go);
  bool empty() const;

 private:
  // In order. One goes in each pause however busy it is, the rest while less than `enough` is
  // unfinished and the server is quick. UIDs that left the set are passed over.
  struct Line {
    std::size_t enough;
    Duration pause;
    std::deque<std::string> uids{};
    TextSet waiting{};
    Instant due{};  // one of them goes then

    void add(const std::string& uid, Instant now);
  };
  void release(Line& line, Instant now, const Unfinished& unfinished, const Go& go);

  static Line refusals();
  static Line idle_writes();

  Line refused_ = refusals();
  Line unplaced_ = refusals();
  Line idle_ = idle_writes();
  TextSet may_write_;  // was woken for it
  WritePace pace_;
};

}  // namespace codeflare::controllers
