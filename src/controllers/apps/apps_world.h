#pragma once

#include "controllers/apps/apps_controllers.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "model/codec/event.h"
#include "model/codec/pod.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

// An API server in virtual time with the workload controllers; pods run when the test says so.
struct AppsWorld {
  testing::EmbeddedCluster cluster;

  AppsWorld() {
    add_apps_controllers(cluster.manager);
    cluster.start();
  }

  // Pods that are not being deleted, by name.
  std::vector<model::Pod> pods() {
    std::vector<model::Pod> found = cluster.list<model::Pod>();
    std::erase_if(found, [](const model::Pod& pod) { return pod.metadata.deleting(); });
    std::ranges::sort(found, {}, [](const model::Pod& pod) { return pod.metadata.name; });
    return found;
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const model::Pod& pod : pods()) {
      found.push_back(pod.metadata.name);
    }
    return found;
  }
  void set_ready(const std::string& pod, bool ready = true) {
    const std::string time = to_rfc3339(cluster.env.clock.wall());
    cluster.patch<model::Pod>(pod,
                              R"({"status":{"phase":"Running","conditions":[{"type":"Ready",)"
                              R"("status":")" +
                                  std::string(ready ? "True" : "False") +
                                  R"(","lastTransitionTime":")" + time + R"("}]}})",
                              "status");
    cluster.settle();
  }
  void all_ready() {
    for (const model::Pod& pod : pods()) {
      if (!model::is_condition_true(pod.status.conditions, "Ready")) {
        set_ready(pod.metadata.name);
      }
    }
  }
  std::vector<std::string> uids() {
    std::vector<std::string> found;
    for (const model::Pod& pod : pods()) {
      found.push_back(pod.metadata.uid);
    }
    return found;
  }
  // Until nothing changes: every pod that comes up becomes ready.
  void run_until_quiet() {
    for (int round = 0; round < 50; ++round) {
      const std::vector<std::string> before = uids();
      all_ready();
      cluster.settle();
      if (uids() == before) {
        return;
      }
    }
    FAIL() << "the rollout does not end";
  }
  bool has_event(std::string_view reason, std::string_view message) {
    return std::ranges::any_of(cluster.list<model::Event>(), [&](const model::Event& event) {
      return event.reason == reason && event.message == message;
    });
  }
};

inline std::string pod_template(std::string_view image = "one") {
  return R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{)"
         R"("terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":")" +
         std::string(image) + R"("}]}})";
}

inline std::string workload(std::string_view kind, std::string_view spec,
                            std::string_view image = "one") {
  return R"({"apiVersion":"apps/v1","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"web"},"spec":{)" + std::string(spec) +
         R"("selector":{"matchLabels":{"app":"web"}},)" + pod_template(image) + "}}";
}

}  // namespace codeflare::controllers::apps
