#include "base/base64.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/testing/embedded_cluster.h"
#include "controllers/trainingjob/training_controller.h"
#include "elastic/documents.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/pod.h"
#include "model/codec/training_job.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace codeflare::controllers::trainingjob {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The part of etcd's JSON gateway that the controller uses; leases are the test's business.
class FakeEtcd final : public net::HttpService {
 public:
  bool down = false;
  std::map<std::string, std::string> values{};

  Task<Result<net::Response>> send(net::Request request) override {
    if (down) {
      co_return fail(unavailable("connection refused"));
    }
    CO_TRY_ASSIGN(const std::string text, co_await net::read_all(std::move(request.body), 1 << 20));
    CO_TRY_ASSIGN(const json::Document body, json::parse(text));
    std::string answer = "{}";
    if (request.target == "/v3/kv/range") {
      answer = range(body.root);
    } else if (request.target == "/v3/kv/deleterange") {
      const auto [begin, end] = bounds(body.root);
      values.erase(values.lower_bound(begin), values.lower_bound(end));
    } else if (request.target == "/v3/kv/txn") {
      const json::Value& put = *body.root.find("success")->items()[0].find("request_put");
      values[*from_base64(put.string_or_empty("key"))] = *from_base64(put.string_or_empty("value"));
      ++revision_;
      answer = R"({"succeeded":true})";
    }
    net::Response response{.status = 200, .body_size = answer.size()};
    response.body = net::body_of(std::move(answer));
    co_return response;
  }

 private:
  static std::pair<std::string, std::string> bounds(const json::Value& body) {
    const std::string key = *from_base64(body.string_or_empty("key"));
    const std::string end = *from_base64(body.string_or_empty("range_end"));
    return {key, end.empty() ? key + '\0' : end};
  }
  std::string range(const json::Value& body) const {
    const auto [begin, end] = bounds(body);
    std::string text;
    json::Writer w(text);
    w.begin_object().key("kvs").begin_array();
    for (auto at = values.lower_bound(begin); at != values.lower_bound(end); ++at) {
      w.begin_object().member("key", to_base64(at->first)).member("value", to_base64(at->second));
      w.member("mod_revision", std::to_string(revision_)).end_object();
    }
    w.end_array().end_object();
    return text;
  }
  int revision_ = 1;
};

struct World {
  FakeEtcd etcd;
  testing::EmbeddedCluster cluster;

  World() {
    EXPECT_TRUE(*run(cluster.env.loop, ensure_crds(cluster.client, {})));
    QueueControllersOptions options;
    options.queue.binds = queue::Binds::all;
    options.queue.user_check = false;
    options.training_jobs = true;
    options.trim_caches = false;
    auto driver = add_queue_controllers(cluster.manager, options);
    add_training_controller(
        cluster.manager, *driver,
        {.scheduler_name = "codeflare", .agent_image = "codeflare:1", .etcd = &etcd});
    fakenode::add_fake_node_controllers(cluster.manager);
    EXPECT_TRUE(*run(cluster.env.loop,
                     fakenode::register_fake_nodes(cluster.client, {.cpus = model::Quantity(4)})));
    cluster.start();
    cluster.create<model::TrainingJob>(
        R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":"bert"},"spec":{)"
        R"("minSize":1,"maxSize":2,"injectLattice":true,"elastic":{"rdzvBackend":"etcd",)"
        R"("gracePeriodSeconds":1},"replicaSpecs":{"template":{"metadata":{"annotations":{)"
        R"("codeflare.dev/duration":"24h"}},"spec":{"containers":[{"name":"trainingjob",)"
        R"("image":"i","command":["train"],"resources":{"requests":{"cpu":"1"},)"
        R"("limits":{"cpu":"1"}}}]}}}}})");
    cluster.settle(seconds(10));
  }

  model::TrainingJobStatus status() { return cluster.read<model::TrainingJob>("bert").status; }
  std::string prefix() {
    return "/lattice/" + cluster.read<model::TrainingJob>("bert").metadata.uid + "/";
  }
  // As the agent of that worker says.
  void say(int index, elastic::MemberState state, std::int64_t generation) {
    elastic::Member member;
    member.state = state;
    member.generation = generation;
    member.pod = cluster.read<model::Pod>("bert-worker-" + std::to_string(index)).metadata.uid;
    member.agent = "agent of " + member.pod;
    etcd.values[prefix() + "member/" + std::to_string(index)] = model::to_json_text(member);
  }
  std::optional<elastic::Membership> published() {
    const auto at = etcd.values.find(prefix() + "membership");
    return at == etcd.values.end() ? std::nullopt
                                   : std::optional(*elastic::parse_membership(at->second));
  }
};

TEST(EtcdWords, agents_that_register_in_etcd_get_a_membership_there) {
  World w;
  const auto pod = w.cluster.read<model::Pod>("bert-worker-1");
  EXPECT_EQ(pod.spec.init_containers.size(), 1U) << "with an agent";
  EXPECT_FALSE(w.published());
  w.say(0, elastic::MemberState::registered, 0);
  w.say(1, elastic::MemberState::registered, 0);
  w.cluster.settle(seconds(5));
  ASSERT_TRUE(w.published());
  EXPECT_EQ(w.published()->members.size(), 2U);
  EXPECT_EQ(w.published()->generation, w.status().membership->generation);
  // The lease of a member runs out.
  w.say(0, elastic::MemberState::running, 1);
  w.say(1, elastic::MemberState::running, 1);
  w.cluster.settle(seconds(5));
  w.etcd.values.erase(w.prefix() + "member/1");
  w.cluster.settle(seconds(5));
  EXPECT_EQ(w.published()->members.size(), 1U);
  EXPECT_EQ(w.published()->reason, "Replace");
  EXPECT_EQ(w.status().restart_counts.infra, 1);
}

TEST(EtcdWords, without_etcd_nothing_is_resized_and_the_job_says_so) {
  World w;
  w.say(0, elastic::MemberState::registered, 0);
  w.say(1, elastic::MemberState::registered, 0);
  w.cluster.settle(seconds(5));
  const std::int64_t generation = w.status().membership->generation;
  w.etcd.down = true;
  w.cluster.settle(minutes(1));
  EXPECT_NE(w.status().message.find("not resized: etcd does not answer"), std::string::npos)
      << w.status().message;
  EXPECT_EQ(w.status().membership->generation, generation);
  w.etcd.down = false;
  w.cluster.settle(minutes(1));
  EXPECT_EQ(w.status().message.find("etcd"), std::string::npos) << w.status().message;
}

TEST(EtcdWords, documents_of_a_deleted_job_are_removed) {
  World w;
  w.say(0, elastic::MemberState::registered, 0);
  w.cluster.settle(seconds(5));
  EXPECT_FALSE(w.etcd.values.empty());
  w.cluster.remove<model::TrainingJob>("bert");
  w.cluster.settle(minutes(2));
  EXPECT_TRUE(w.etcd.values.empty());
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
