#include "controllers/run/progress_followers.h"

#include "base/async/sleep.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/platform.h"

#include <gtest/gtest.h>

#include <memory>

namespace codeflare::controllers::runs {
namespace {

using std::chrono::seconds;

// A log that grows while it is read.
struct Log {
  std::string text{};
  bool ended = false;
  int readers = 0;
  WaitList more{};
};

class LogBody final : public net::BodyStream {
 public:
  explicit LogBody(Log& log) : log_(log) { ++log_.readers; }
  ~LogBody() override { --log_.readers; }
  Task<Result<Bytes>> read() override {
    while (at_ == log_.text.size() && !log_.ended) {
      CO_TRY(co_await log_.more.wait());
    }
    std::string piece = log_.text.substr(at_);
    at_ = log_.text.size();
    co_return Bytes::from(std::move(piece));
  }

 private:
  Log& log_;
  std::size_t at_ = 0;
};

// Serves the log of every pod.
class Logs final : public net::HttpService {
 public:
  explicit Logs(net::HttpService& server) : server_(server) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (!request.target.contains("/log?")) {
      co_return co_await server_.send(std::move(request));
    }
    targets.push_back(request.target);
    net::Response response;
    response.body = std::make_unique<LogBody>(log);
    co_return response;
  }
  Log log;
  std::vector<std::string> targets;

 private:
  net::HttpService& server_;
};

struct World {
  std::unique_ptr<controllers::testing::EmbeddedCluster> owned =
      std::make_unique<controllers::testing::EmbeddedCluster>();
  controllers::testing::EmbeddedCluster& cluster = *owned;
  Logs logs{cluster.service()};
  kube::Client client{cluster.env, logs, {}};
  std::vector<std::string> woken;
  ProgressFollowers followers{cluster.env, client,
                              cluster.manager.cache().informer(model::resource_type<model::Run>())};

  World() {
    auto crds = *codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    followers.wakes([this](const model::ObjectKey& run) { woken.push_back(run.name); });
    cluster.manager.add_work([this] { return followers.run(); });
    cluster.start();
  }
  ~World() { owned.reset(); }  // the manager runs the followers
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::string make_run(const std::string& name, const std::string& status = "") {
    const kube::ObjectRef made = cluster.create<model::Run>(
        R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Run","metadata":{"name":")" + name +
        R"("},"spec":{"application":{"name":"app"}}})");
    cluster.patch<model::Run>(
        name, R"({"status":{"phase":"Running","headPod":"p-)" + name + R"(")" + status + "}}",
        "status");
    cluster.settle();
    return std::string(made->uid());
  }
  void say(std::string_view text, Duration time = seconds(1)) {
    logs.log.text += text;
    logs.log.more.notify_all();
    cluster.settle(time);
  }
};

TEST(ProgressFollowers, publish_the_first_at_once_and_later_ones_every_five_seconds) {
  World w;
  const std::string uid = w.make_run("r");
  ASSERT_EQ(w.logs.targets.size(), 1u);
  EXPECT_TRUE(w.logs.targets[0].contains("/pods/p-r/log?"));
  EXPECT_TRUE(w.logs.targets[0].contains("container=main"));
  w.say("Epoch 0: 1%\n");
  EXPECT_EQ(w.followers.published(uid), (platform::Progress{"0", "1%"}));
  EXPECT_EQ(w.woken.size(), 1u);
  for (int percent = 2; percent < 12; ++percent) {
    w.say("Epoch 0: " + std::to_string(percent) + "%\n");
  }
  EXPECT_LE(w.woken.size(), 3u);
  EXPECT_EQ(w.followers.last(uid), (platform::Progress{"0", "11%"}));
  w.cluster.settle(seconds(6));
  EXPECT_EQ(w.followers.published(uid), (platform::Progress{"0", "11%"}));
}

TEST(ProgressFollowers, use_the_pattern_and_the_container_of_the_run) {
  World w;
  const std::string uid =
      w.make_run("r", R"j(,"api":"ray","effective":[)j"
                      R"j({"name":"progress.pattern","value":"step (\\d+)","from":"a"}])j");
  EXPECT_TRUE(w.logs.targets.at(0).contains("container=ray-job-submitter"));
  w.say("Epoch 1: 5%\nstep 7\n");
  EXPECT_EQ(w.followers.last(uid), (platform::Progress{"", "7%"}));
}

TEST(ProgressFollowers, read_the_rest_of_the_log_when_the_run_ends) {
  World w;
  const std::string uid = w.make_run("r");
  w.cluster.patch<model::Run>("r", R"({"status":{"phase":"Completed"}})", "status");
  w.cluster.settle();
  EXPECT_EQ(w.logs.log.readers, 1);
  w.logs.log.ended = true;
  w.say("Epoch 9: 100%\n");
  EXPECT_EQ(w.logs.log.readers, 0);
  EXPECT_EQ(w.followers.last(uid), (platform::Progress{"9", "100%"}));
  EXPECT_FALSE(w.woken.empty());
  w.cluster.patch<model::Run>("r", R"({"status":{"progress":"100%"}})", "status");
  w.cluster.settle();
  EXPECT_EQ(w.followers.last(uid), std::nullopt);
}

TEST(ProgressFollowers, stop_when_the_run_is_deleted) {
  World w;
  const std::string uid = w.make_run("r");
  EXPECT_EQ(w.logs.log.readers, 1);
  w.cluster.remove<model::Run>("r");
  w.cluster.settle();
  EXPECT_EQ(w.logs.log.readers, 0);
  EXPECT_EQ(w.followers.following(), 0u);
  EXPECT_EQ(w.followers.last(uid), std::nullopt);
}

TEST(ProgressFollowers, take_up_a_log_again_whose_server_ended) {
  World w;
  const std::string uid = w.make_run("r");
  w.logs.log.ended = true;
  w.say("Epoch 3: 30%");
  EXPECT_EQ(w.followers.last(uid), (platform::Progress{"3", "30%"}));
  w.logs.log.ended = false;
  w.say("\nEpoch 4: 40%\n", seconds(6));
  EXPECT_EQ(w.followers.last(uid), (platform::Progress{"4", "40%"}));
  EXPECT_GE(w.logs.targets.size(), 2u);
}

TEST(ProgressFollowers, are_at_most_64_and_the_others_have_their_turn) {
  World w;
  for (int i = 0; i < 66; ++i) {
    w.make_run("r" + std::to_string(i));
  }
  EXPECT_EQ(w.logs.log.readers, 64);
  EXPECT_EQ(w.followers.following(), 64u);
  for (int i = 0; i < 66; ++i) {
    w.cluster.remove<model::Run>("r" + std::to_string(i));
    w.cluster.settle();
  }
  EXPECT_EQ(w.logs.log.readers, 0);
  EXPECT_EQ(w.logs.targets.size(), 66u);
}

}  // namespace
}  // namespace codeflare::controllers::runs
