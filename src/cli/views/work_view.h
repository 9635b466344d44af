#pragma once

#include "base/time.h"
#include "json/write.h"
#include "model/app_wrapper.h"
#include "model/pod.h"
#include "queue/pod_trouble.h"

#include <optional>
#include <string>
#include <vector>

// How work fares that was dispatched: its pods, its times, its end; pure.
namespace codeflare::cli {

// How long an AppWrapper has waited and run in all, over every dispatch.
struct WorkTimes {
  Duration waited{};
  Duration ran{};
};
// Nothing when the time of its submission is not known.
std::optional<WorkTimes> times_of(const model::AppWrapper& wrapper, WallTime now);
// "waited 2s, ran 1m3s"; empty when neither is known.
std::string times_text(const model::AppWrapper& wrapper, WallTime now);

// Of one that was dispatched and waits again: "Preempted 3m ago: makes room for default/b, ...".
// Empty: it was not stopped.
std::string stop_text(const model::AppWrapper& wrapper, WallTime now);

// All that is known of work that was dispatched.
struct Work {
  std::vector<std::string> items{};  // the wrapped objects: "Job train"
  std::vector<model::Pod> pods{};
  std::vector<std::string> log{};  // the last lines of the container that is in trouble
  std::string stays{};             // why it does not end by itself; empty: it does
  // What an Event says keeps its pods from existing or starting, where pods do not say it: a volume
  // that is missing, a ResourceQuota. Empty: nothing.
  std::string warning{};

  // The worst trouble of its pods.
  std::optional<queue::PodTrouble> trouble() const { return queue::worst_trouble(pods); }
};

// "node-1:2,node-2:1": where its pods are or were.
std::string nodes_of(const std::vector<model::Pod>& pods);

// The last lines of what a container wrote, of those that its status has.
std::vector<std::string> last_lines(std::string_view text);

// The lines that `explain` prints below its first ones. `told` is what it has printed so far.
std::string render_work(const model::AppWrapper& wrapper, const Work& work, std::string_view told,
                        WallTime now);
// The same as members of the object that is being written.
void write_work(json::Writer& writer, const model::AppWrapper& wrapper, const Work& work,
                WallTime now);

}  // namespace codeflare::cli
