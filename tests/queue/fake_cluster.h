#pragma once

#include "model/app_wrapper.h"
#include "model/node.h"
#include "model/pod.h"
#include "queue/queue.h"
#include "tests/sched/random_world.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::queue {

// A cluster as the API server has it, with a simple controller, a job controller and a scheduler
// around one Queue. Events of AppWrappers and their pods arrive late, in order.
class FakeCluster {
 public:
  struct Habits {
    Binds binds = Binds::nothing;
    bool preemption = false;
    bool surges = false;  // pods beyond the plan
  };
  FakeCluster(std::uint64_t seed, Habits habits);

  // One random thing happens; then books are checked.
  void happen();
  // Everybody finishes what is under way.
  void come_to_rest();
  // At rest: the queue accounts for every pod, and a new queue that reads the same objects holds
  // the same and would start nothing else. With `take_over` that one goes on.
  void check_rest(bool take_over);

 private:
  struct Work {
    model::AppWrapper object;
    bool created = false;    // its pods
    bool stop = false;       // the controller has decided so
    bool completed = false;  // and will not start it again
    int pods = 0;            // ever
  };
  struct WrapperEvent {
    std::string uid;
    std::optional<model::AppWrapper> object;  // absent: gone
  };
  struct PodEvent {
    model::Pod pod;
    bool gone = false;
  };

  Queue new_queue() const;
  void feed(Queue& queue) const;
  void step();
  void check_books();

  void create_work();
  void change_work();
  void change_nodes();
  void change_foreign();
  void end_pod();
  void add_surge();
  void change_quota();
  void remove_node(const std::string& name);

  bool reconcile(const std::string& uid);
  bool take_back(Work& work, bool for_good);
  bool create_missing_pods(Work& work);
  bool collect_garbage();
  bool schedule_one();
  void apply_binding(const Binding& binding);
  void apply_bindings();

  void write(const Work& work);
  void write(const model::Pod& pod);
  void remove_pod(const std::string& uid);
  bool deliver_one();
  void deliver_pods();

  template <typename Map>
  std::string any(const Map& map);
  std::string add_pod(Work& work, int pod_set);
  std::vector<std::string> pods_of(const Work& work) const;
  // A queue's view of the work, for failures.
  std::string text(Queue& queue, const std::string& uid) const;
  bool is_foreign(const model::Pod& pod) const;
  sched::Amount cpu_of(const model::Pod& pod) const;

  sched::Dice dice_;
  Habits habits_;
  Time now_;
  Queue queue_;
  std::map<std::string, model::Node> nodes_;
  std::map<std::string, Work> works_;
  std::map<std::string, model::Pod> pods_;
  std::optional<model::QuotaSubtree> quota_;
  std::deque<WrapperEvent> wrapper_events_;
  std::deque<PodEvent> pod_events_;
  std::vector<Binding> bindings_;
  int counter_ = 0;
};

}  // namespace codeflare::queue
