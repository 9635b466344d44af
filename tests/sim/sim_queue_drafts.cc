#include "tests/sim/sim_queue_drafts.h"

#include "controllers/fakenode/node_table.h"
#include "controllers/fakenode/pod_timeline.h"
#include "tests/sim/sim_queue_judge.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace codeflare::sim {

namespace {

namespace fakenode = controllers::fakenode;

// "name":"text" and "name":value
std::string text(std::string_view name, std::string_view value) {
  return "\"" + std::string(name) + R"(":")" + std::string(value) + "\"";
}
std::string raw(std::string_view name, std::string_view value) {
  return "\"" + std::string(name) + "\":" + std::string(value);
}
std::string number(std::string_view name, std::int64_t value) {
  return raw(name, std::to_string(value));
}

std::string millis(std::int64_t cpus_in_thousandths) {
  return std::to_string(cpus_in_thousandths) + "m";
}

std::string containers(std::int64_t millicores) {
  return R"("containers":[{"name":"c","image":"i","resources":{"requests":{)" +
         text("cpu", millis(millicores)) + "}}}]";
}

// Annotations that tell a fake node what to pretend.
std::string script(std::uint64_t seconds, int exit_code) {
  return R"("annotations":{)" + text(fakenode::kDurationAnnotation, std::to_string(seconds) + "s") +
         "," + text(fakenode::kExitCodeAnnotation, std::to_string(exit_code)) + "}";
}

std::string some_selector(Random& random) {
  return random.below(8) == 0 ? R"("nodeSelector":{"zone":"a"},)" : std::string();
}

// An AppWrapper in the making.
class Draft {
 public:
  Draft(Random& random, std::string name) : random_(random), name_(std::move(name)) {}

  void add_job() {
    const std::int64_t parallel = pick(1, 3);
    const std::int64_t completions = pick(0, 2) == 0 ? parallel + pick(1, 2) : parallel;
    const std::int64_t millicores = pick(1, 4) * 500;
    const bool fails = pick(0, 7) == 0;
    add_item("Complete",
             R"("apiVersion":"batch/v1","kind":"Job",)" + metadata("") + R"(,"spec":{)" +
                 number("parallelism", parallel) + "," + number("completions", completions) + "," +
                 number("backoffLimit", fails ? pick(0, 1) : 6) + R"(,"template":{"metadata":{)" +
                 script(static_cast<std::uint64_t>(pick(3, 40)), fails ? 1 : 0) +
                 R"(},"spec":{"restartPolicy":"Never",)" + some_selector(random_) +
                 containers(millicores) + "}}}");
    sets_.push_back({parallel, completions, millicores});
  }

  void add_pod() {
    const std::int64_t millicores = pick(1, 4) * 500;
    add_item("Succeeded", R"("apiVersion":"v1","kind":"Pod",)" +
                              metadata(script(static_cast<std::uint64_t>(pick(3, 40)), 0)) +
                              R"(,"spec":{"restartPolicy":"Never",)" + some_selector(random_) +
                              containers(millicores) + "}");
    sets_.push_back({1, 1, millicores});
  }

  void add_ray() {
    const std::int64_t workers = pick(1, 3);
    add_item("", R"("apiVersion":"ray.io/v1","kind":"RayCluster",)" + metadata("") +
                     R"(,"spec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{)" +
                     containers(1000) + R"(}}},"workerGroupSpecs":[{"groupName":"g",)" +
                     number("replicas", workers) + R"(,"minReplicas":0,"maxReplicas":9,)" +
                     R"("rayStartParams":{},"template":{"spec":{)" + containers(1000) + "}}}]}");
    sets_.push_back({1, 1, 1000});
    sets_.push_back({workers, workers, 1000});
    endless_ = true;
  }

  void add_spec(const std::string& members) { spec_ += members + ","; }
  void add_label(const std::string& member) { labels_ = member; }

  void make_up_its_mind() {
    add_spec(number("priority", pick(0, 2)));
    if (endless_) {
      if (pick(0, 1) == 0) {
        add_spec(R"("schedulingSpec":{"dispatchDuration":{)" + number("limit", pick(20, 120)) +
                 "}}");
      }
    } else if (pick(0, 2) == 0) {
      std::int64_t pods = 0;
      for (const PodSetSize& set : sets_) {
        pods += set.count;
      }
      add_spec(R"("schedulingSpec":{)" + number("minAvailable", pods) + R"(,"requeuing":{)" +
               number("timeInSeconds", pick(30, 60)) + "," +
               number("maxNumRequeuings", pick(1, 3)) + R"(,"growthType":"none"}})");
    }
    if (pick(0, 5) == 0) {
      add_spec(number("ttlSecondsAfterFinished", pick(0, 30)));
    }
  }

  std::string body() const {
    return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)" +
           text("name", name_) + R"(,"labels":{)" + labels_ + R"(},"annotations":{)" +
           text(kSizesAnnotation, to_text(sets_)) +
           (endless_ ? "," + text(kEndlessAnnotation, "true") : std::string()) + R"(}},"spec":{)" +
           spec_ + R"("resources":{"GenericItems":[)" + items_ + "]}}}";
  }

 private:
  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least) + 1));
  }

  std::string metadata(const std::string& more) const {
    return R"("metadata":{)" + text("name", name_ + "-" + std::to_string(sets_.size())) +
           (more.empty() ? "" : "," + more) + "}";
  }

  void add_item(const std::string& completion, const std::string& object) {
    items_ += std::string(items_.empty() ? "{" : ",{") +
              (completion.empty() ? "" : text("completionstatus", completion) + ",") +
              R"("generictemplate":{)" + object + "}}";
  }

  Random& random_;
  std::string name_;
  std::string items_;
  std::string spec_;
  std::string labels_;
  std::vector<PodSetSize> sets_;
  bool endless_ = false;
};

std::string some_quota_label(Random& random) {
  const std::uint64_t choice = random.below(10);
  return choice < 4   ? text("team", "a")
         : choice < 8 ? text("team", "b")
         : choice < 9 ? std::string()
                      : text("team", "nobody");
}

std::string quota_child(const std::string& name, std::int64_t cpus, bool hard) {
  return "{" + text("name", name) + R"(,"quotas":{"hardLimit":)" + (hard ? "true" : "false") +
         R"(,"requests":{)" + text("cpu", std::to_string(cpus)) + "}}}";
}

std::string quota_subtree(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"quota.codeflare.dev/v1alpha1","kind":"QuotaSubtree","metadata":{)" +
         text("name", name) + R"(,"labels":{"tree":"team"}},"spec":{)" + spec + "}}";
}

}  // namespace

std::string some_wrapper(Random& random, const std::string& name, const DraftOptions& options) {
  Draft draft(random, name);
  const std::uint64_t choice = random.below(10);
  if (choice < 2 && options.rays) {
    draft.add_ray();
  } else if (choice < 6) {
    draft.add_job();
  } else if (choice < 9) {
    for (std::uint64_t pods = 1 + random.below(3); pods > 0; --pods) {
      draft.add_pod();
    }
  } else {
    draft.add_job();
    draft.add_pod();
  }
  draft.make_up_its_mind();
  if (options.quotas) {
    draft.add_label(some_quota_label(random));
  }
  return draft.body();
}

std::string probe(const std::string& name, const std::string& node, std::int64_t millicores) {
  const std::string item =
      R"("apiVersion":"v1","kind":"Pod","metadata":{)" + text("name", name) + "," + script(2, 0) +
      R"(},"spec":{"restartPolicy":"Never","nodeSelector":{)" +
      text("kubernetes.io/hostname", node) + "}," + containers(millicores) + "}";
  return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)" +
         text("name", name) + R"(,"annotations":{)" +
         text(kSizesAnnotation, to_text(std::vector<PodSetSize>{{1, 1, millicores}})) +
         R"(}},"spec":{"priority":100,"resources":{"GenericItems":[{"completionstatus":)"
         R"("Succeeded","generictemplate":{)" +
         item + "}}]}}}";
}

std::string lone_pod(Random& random, const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{)" + text("name", name) + "," +
         script(5 + random.below(60), 0) + R"(},"spec":{"restartPolicy":"Never",)" +
         containers(500) + "}}";
}

std::string fake_node(const std::string& name, const std::string& zone) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{)" + text("name", name) +
         R"(,"labels":{)" + text(fakenode::kFakeLabel, "true") + "," + text("zone", zone) + "," +
         text("kubernetes.io/hostname", name) + "}}}";
}

std::string fake_node_status(std::int64_t cpus) {
  const std::string amounts =
      "{" + text("cpu", std::to_string(cpus)) + R"(,"memory":"64Gi","pods":"20"})";
  return R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],)" +
         raw("capacity", amounts) + "," + raw("allocatable", amounts) + "}}";
}

std::string quota_roots(std::int64_t org_cpus) {
  return quota_subtree(
      "roots", R"("children":[)" + quota_child("org", org_cpus, false) + R"(,{"name":"default"}])");
}

std::string quota_teams(std::int64_t a_cpus, std::int64_t b_cpus) {
  return quota_subtree("teams", R"("parent":"org","children":[)" + quota_child("a", a_cpus, true) +
                                    "," + quota_child("b", b_cpus, false) + "]");
}

}  // namespace codeflare::sim
