#include "apiserver/server/api_server.h"

#include "apiserver/rest/testing/held_body.h"
#include "apiserver/store/memory_log.h"
#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "net/in_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct Answer {
  int status = 0;
  std::string body;
  // Text of the value at the path; "absent" when there is none.
  std::string at(std::initializer_list<std::string_view> path) const {
    const Result<json::Document> parsed = json::parse(body);
    const json::Value* value = parsed ? parsed->root.get(path) : nullptr;
    return value == nullptr ? "absent" : json::to_text(*value);
  }
};

// A whole server in virtual time, called in process.
class ServerWorld {
 public:
  ServerWorld() { start(); }
  ~ServerWorld() { stop(); }

  void start() {
    ApiServer::Options options{.data_directory = "/data", .durability = Durability::memory};
    options.open_log = [this] { return open_memory_log(disk); };
    Result<std::unique_ptr<ApiServer>> started =
        *run(sim.env().loop,
             ApiServer::start(sim.env(), std::move(options), log.logger(sim.env().clock), metrics));
    CHECK(started.has_value());
    server = std::move(*started);
    settle();
  }
  void stop() {
    CHECK(run(sim.env().loop, server->stop({})));
    server.reset();
  }

  Answer call(std::string method, std::string path, std::string body = "",
              std::string type = "application/json", std::string user = "admin",
              std::vector<std::string> groups = {"system:masters"}) {
    net::InProcessService client(
        server->service(),
        {.address = "test",
         .certificate = net::Peer::Certificate{.common_name = user, .organizations = groups}});
    return *run(sim.env().loop,
                send(client, std::move(method), std::move(path), std::move(body), std::move(type)));
  }
  Answer get(std::string path) { return call("GET", std::move(path)); }
  Answer post(std::string path, std::string body) {
    Answer answer = call("POST", std::move(path), std::move(body));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return answer;
  }
  Answer patch(std::string path, std::string body) {
    return call("PATCH", std::move(path), std::move(body), "application/merge-patch+json");
  }
  Answer remove(std::string path, std::string propagation) {
    return call("DELETE", std::move(path), R"({"propagationPolicy":")" + propagation + R"("})");
  }
  // Several at the same moment.
  std::vector<Answer> post_together(std::string path, std::vector<std::string> bodies) {
    net::InProcessService client(server->service(), admin());
    std::vector<Task<Answer>> calls;
    for (std::string& body : bodies) {
      calls.push_back(send(client, "POST", path, std::move(body), "application/json"));
    }
    return *run(sim.env().loop, when_all(std::move(calls)));
  }
  // A create whose body arrives when the other request has been answered: the create's answer.
  Answer post_around(std::string path, std::string body, std::string method, std::string other) {
    net::InProcessService client(server->service(), admin());
    return *run(sim.env().loop, around(client, std::move(path), std::move(body), std::move(method),
                                       std::move(other)));
  }
  // Both at the same moment: the create's answer.
  Answer post_beside(std::string path, std::string body, std::string method, std::string other) {
    net::InProcessService client(server->service(), admin());
    Task<Answer> create = send(client, "POST", std::move(path), std::move(body), kJson);
    Task<Answer> beside = send(client, std::move(method), std::move(other), "", kJson);
    auto [made, ended] = *run(sim.env().loop, when_both(std::move(create), std::move(beside)));
    EXPECT_EQ(ended.status, 200) << ended.body;
    return made;
  }
  // Lets the server do what it does by itself.
  void settle() { advance(seconds(1)); }
  void advance(Duration time) { CHECK(run(sim.env().loop, wait(time))); }

  SimEnv sim;
  MetricsRegistry metrics;
  LogCapture log;
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  std::unique_ptr<ApiServer> server;

 private:
  static constexpr const char* kJson = "application/json";
  static net::Peer admin() {
    return {.address = "test",
            .certificate = net::Peer::Certificate{.common_name = "admin",
                                                  .organizations = {"system:masters"}}};
  }

  static Task<Answer> around(net::HttpService& client, std::string path, std::string body,
                             std::string method, std::string other) {
    Gate gate;
    Task<Answer> create = send_held(client, std::move(path), std::move(body), gate);
    Task<Answer> meanwhile = send_then_open(client, std::move(method), std::move(other), gate);
    auto [made, ended] = co_await when_both(std::move(create), std::move(meanwhile));
    EXPECT_EQ(ended.status, 200) << ended.body;
    co_return made;
  }
  static Task<Answer> send_held(net::HttpService& client, std::string path, std::string body,
                                Gate& gate) {
    net::Request request{.method = "POST", .target = std::move(path)};
    request.headers.set("Content-Type", kJson);
    request.body_size = body.size();
    request.body = std::make_unique<HeldBody>(gate, std::move(body));
    co_return co_await answer_to(client, std::move(request));
  }
  // By the time the body comes, what the other request began has ended.
  static Task<Answer> send_then_open(net::HttpService& client, std::string method, std::string path,
                                     Gate& gate) {
    Answer answer = co_await send(client, std::move(method), std::move(path), "", kJson);
    static_cast<void>(co_await sleep_for(seconds(1)));
    gate.let_go();
    co_return answer;
  }

  static Task<Answer> answer_to(net::HttpService& client, net::Request request) {
    Result<net::Response> response = co_await client.send(std::move(request));
    CHECK(response.has_value());
    Answer answer{.status = response->status, .body = {}};
    Result<std::string> text = co_await net::read_all(std::move(response->body), 16u << 20);
    answer.body = text ? *text : text.error().to_string();
    co_return answer;
  }
  static Task<void> wait(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  static Task<Answer> send(net::HttpService& client, std::string method, std::string path,
                           std::string body, std::string type) {
    net::Request request{.method = std::move(method), .target = std::move(path)};
    if (!body.empty()) {
      request.headers.set("Content-Type", type);
      request.body_size = body.size();
      request.body = net::body_of(std::move(body));
    }
    co_return co_await answer_to(client, std::move(request));
  }
};

TEST(ApiServer, a_second_server_on_its_directory_is_refused_also_without_a_database) {
  SimEnv sim;
  MetricsRegistry metrics;
  const ApiServer::Options options{.data_directory = "/data", .durability = Durability::memory};
  const auto first = *run(sim.env().loop, ApiServer::start(sim.env(), options, {}, metrics));
  ASSERT_TRUE(first.has_value()) << first.error().to_string();
  const auto second = *run(sim.env().loop, ApiServer::start(sim.env(), options, {}, metrics));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::failed_precondition) << second.error().to_string();
  EXPECT_TRUE(run(sim.env().loop, (*first)->stop({})));
}

TEST(ApiServer, a_disk_that_is_full_at_the_first_start_is_an_error_and_room_heals_it) {
  SimEnv sim;
  MetricsRegistry metrics;
  auto disk = std::make_shared<MemoryDisk>();
  const ApiServer::Options options{.data_directory = "/data",
                                   .open_log = [&] { return open_memory_log(disk); }};
  disk->fail_appends({.error = resource_exhausted("no room")});
  const auto refused = *run(sim.env().loop, ApiServer::start(sim.env(), options, {}, metrics));
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.contains("no room")) << refused.error().to_string();
  const auto started = *run(sim.env().loop, ApiServer::start(sim.env(), options, {}, metrics));
  ASSERT_TRUE(started.has_value()) << started.error().to_string();
  EXPECT_TRUE(run(sim.env().loop, (*started)->stop({})));
}

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

std::string reference(std::string_view kind, std::string_view name, std::string_view uid,
                      std::string_view api_version = "v1") {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(kind) +
         R"(","name":")" + std::string(name) + R"(","uid":)" + std::string(uid) + "}";
}

std::string map(std::string_view name, std::string_view owner_uid = "", bool blocks = false,
                std::string_view owner = "owner") {
  std::string owners;
  if (!owner_uid.empty()) {
    owners = R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" +
             std::string(owner) + R"(","uid":)" + std::string(owner_uid) +
             R"(,"blockOwnerDeletion":)" + (blocks ? "true" : "false") + "}]";
  }
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
         R"(")" + owners + "}}";
}

std::string path(std::string_view name) {
  return std::string(kMaps) + "/" + std::string(name);
}

TEST(ApiServer, begins_with_what_every_cluster_has) {
  ServerWorld w;
  EXPECT_EQ(w.get("/api/v1/namespaces/default").at({"status", "phase"}), "\"Active\"");
  EXPECT_EQ(w.get("/api/v1/namespaces/kube-system/serviceaccounts/default").status, 200);
  EXPECT_EQ(w.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt").status, 200);
  EXPECT_EQ(w.get("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical").status, 200);
  EXPECT_EQ(w.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin").status, 200);
}

constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string definition(std::string_view plural, std::string_view kind) {
  std::string text = R"({"metadata":{"name":"PLURAL.example.com"},"spec":{"group":"example.com",)"
                     R"("scope":"Namespaced","names":{"plural":"PLURAL","kind":"KIND"},"versions":)"
                     R"([{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
                     R"({"type":"object"}}}]}})";
  for (auto [word, value] : {std::pair("PLURAL", plural), std::pair("KIND", kind)}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, std::string_view(word).size(), value);
    }
  }
  return text;
}

TEST(ApiServer, of_two_definitions_that_claim_a_name_at_the_same_moment_one_gets_it) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  const auto established = [&](const std::string& name) {
    const std::string body = w.get(definitions + "/" + name + ".example.com").body;
    return body.contains(R"("status":"True","type":"Established")");
  };
  for (const Answer& answer : w.post_together(
           definitions, {definition("apples", "Fruit"), definition("pears", "Fruit")})) {
    EXPECT_EQ(answer.status, 201) << answer.body;
  }
  w.settle();
  ASSERT_NE(established("apples"), established("pears"));
  const std::string winner = established("apples") ? "apples" : "pears";
  const std::string loser = established("apples") ? "pears" : "apples";
  EXPECT_EQ(w.get("/apis/example.com/v1/" + winner).status, 200);
  EXPECT_EQ(w.get("/apis/example.com/v1/" + loser).status, 404);
  EXPECT_EQ(w.remove(definitions + "/" + winner + ".example.com", "Background").status, 200);
  w.settle();
  EXPECT_TRUE(established(loser)) << "the name is free";
}

TEST(ApiServer, nothing_is_created_under_a_definition_that_went_meanwhile) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  const std::string thing =
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"}})";
  w.post(definitions, definition("things", "Thing"));
  EXPECT_EQ(w.post_around(things, thing, "DELETE", definitions + "/things.example.com").status, 404)
      << "its body came late";
  w.post(definitions, definition("things", "Thing"));
  EXPECT_EQ(w.get(things).at({"items"}), "[]");
  w.post_beside(things, thing, "DELETE", definitions + "/things.example.com");
  w.settle();
  EXPECT_EQ(w.get(things).status, 404);
  w.post(definitions, definition("things", "Thing"));
  EXPECT_EQ(w.get(things).at({"items"}), "[]") << "what was created beside the end went with it";
}

TEST(ApiServer, a_custom_resource_shows_the_default_of_its_status_from_its_creation_on) {
  ServerWorld w;
  std::string text = definition("things", "Thing");
  const std::string_view schema = R"({"type":"object"}})";
  text.replace(text.find(schema), schema.size(),
               R"({"type":"object","properties":{"status":{"type":"object","default":{"count":0},)"
               R"("properties":{"count":{"type":"integer"}}}}}},"subresources":{"status":{}})");
  ASSERT_EQ(w.post(std::string(kDefinitions), text).status, 201);
  const Answer made = w.post("/apis/example.com/v1/namespaces/default/things",
                             R"({"apiVersion":"example.com/v1","kind":"Thing",)"
                             R"("metadata":{"name":"t"},"status":{"count":7}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at({"status"}), R"({"count":0})");
}

TEST(ApiServer, removes_what_lost_its_owner) {
  ServerWorld w;
  const std::string uid = w.post(std::string(kMaps), map("owner")).at({"metadata", "uid"});
  const std::string child_uid =
      w.post(std::string(kMaps), map("child", uid)).at({"metadata", "uid"});
  w.post(std::string(kMaps), map("grandchild", child_uid, false, "child"));
  w.settle();
  EXPECT_EQ(w.get(path("grandchild")).status, 200);
  EXPECT_EQ(w.remove(path("owner"), "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(path("child")).status, 404);
  EXPECT_EQ(w.get(path("grandchild")).status, 404);
}

TEST(ApiServer, removes_at_once_what_names_an_owner_that_never_was) {
  ServerWorld w;
  w.post(std::string(kMaps), map("lost", "\"no-such-uid\""));
  w.settle();
  EXPECT_EQ(w.get(path("lost")).status, 404);
}

std::string owned_map(std::string_view name, std::string_view references) {
  return R"({"metadata":{"name":")" + std::string(name) + R"(","ownerReferences":[)" +
         std::string(references) + "]}}";
}

constexpr std::string_view kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

TEST(ApiServer, leaves_what_stands_outside_namespaces_and_names_an_owner_in_one) {
  ServerWorld w;
  const std::string roles(kRoles);
  const std::string uid = w.post(std::string(kMaps), map("owner")).at({"metadata", "uid"});
  w.post(roles, owned_map("held", reference("ConfigMap", "owner", uid)));
  w.post(roles, owned_map("lost", reference("ConfigMap", "never", "\"no-such-uid\"")));
  EXPECT_EQ(w.remove(path("owner"), "Background").status, 200);
  w.advance(minutes(1));
  EXPECT_EQ(w.get(roles + "/held").status, 200);
  EXPECT_EQ(w.get(roles + "/lost").status, 200);
  // Owners of their own kind are looked for as everywhere.
  w.post(roles, owned_map("orphan", reference("ClusterRole", "never", "\"no-such-uid\"",
                                              "rbac.authorization.k8s.io/v1")));
  w.settle();
  EXPECT_EQ(w.get(roles + "/orphan").status, 404);
}

TEST(ApiServer, leaves_what_names_an_owner_of_a_kind_that_is_not_served_until_it_is) {
  ServerWorld w;
  w.post(std::string(kMaps),
         owned_map("imported", reference("Fruit", "f", "\"elsewhere\"", "example.com/v1")));
  w.advance(minutes(1));
  EXPECT_EQ(w.get(path("imported")).status, 200);
  w.post(std::string(kDefinitions), definition("fruits", "Fruit"));
  w.settle();
  EXPECT_EQ(w.get(path("imported")).status, 404) << "now it is known that there is no such fruit";
}

TEST(ApiServer, what_custom_resources_own_goes_with_their_definition) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  w.post(definitions, definition("fruits", "Fruit"));
  const std::string uid =
      w.post("/apis/example.com/v1/namespaces/default/fruits",
             R"({"apiVersion":"example.com/v1","kind":"Fruit","metadata":{"name":"f"}})")
          .at({"metadata", "uid"});
  // More than are looked at in the moment in which the fruit goes.
  for (int i = 0; i < 40; ++i) {
    w.post(std::string(kMaps),
           owned_map("m" + std::to_string(i), reference("Fruit", "f", uid, "example.com/v1")));
  }
  EXPECT_EQ(w.remove(definitions + "/fruits.example.com", "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(definitions + "/fruits.example.com").status, 404);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(w.get(path("m" + std::to_string(i))).status, 404) << i;
  }
}

TEST(ApiServer, an_owner_is_known_by_name_and_uid) {
  ServerWorld w;
  const std::string uid = w.post(std::string(kMaps), map("owner")).at({"metadata", "uid"});
  w.post(std::string(kMaps), map("right", uid));
  w.post(std::string(kMaps), map("wrong", uid, false, "another"));
  w.settle();
  EXPECT_EQ(w.get(path("right")).status, 200);
  EXPECT_EQ(w.get(path("wrong")).status, 404);
}

TEST(ApiServer, keeps_what_has_another_owner_and_forgets_the_one_that_went) {
  ServerWorld w;
  const std::string a = w.post(std::string(kMaps), map("a")).at({"metadata", "uid"});
  const std::string b = w.post(std::string(kMaps), map("b")).at({"metadata", "uid"});
  w.post(std::string(kMaps),
         R"({"metadata":{"name":"both","ownerReferences":[)"
         R"({"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":)" +
             a + R"(},{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":)" + b + "}]}}");
  EXPECT_EQ(w.remove(path("a"), "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(path("both")).at({"metadata", "ownerReferences"}),
            R"([{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":)" + b + "}]");
}

TEST(ApiServer, foreground_deletion_waits_for_those_that_block) {
  ServerWorld w;
  const std::string uid = w.post(std::string(kMaps), map("owner")).at({"metadata", "uid"});
  w.post(std::string(kMaps), map("child", uid, true));
  EXPECT_EQ(w.patch(path("child"), R"({"metadata":{"finalizers":["example.com/hold"]}})").status,
            200);
  EXPECT_EQ(w.remove(path("owner"), "Foreground").status, 200);
  w.settle();
  EXPECT_NE(w.get(path("child")).at({"metadata", "deletionTimestamp"}), "absent");
  EXPECT_EQ(w.get(path("owner")).at({"metadata", "finalizers"}), R"(["foregroundDeletion"])");
  EXPECT_EQ(w.patch(path("child"), R"({"metadata":{"finalizers":null}})").status, 200);
  w.settle();
  EXPECT_EQ(w.get(path("child")).status, 404);
  EXPECT_EQ(w.get(path("owner")).status, 404);
}

TEST(ApiServer, owners_that_own_each_other_do_not_wait_for_each_other) {
  ServerWorld w;
  const std::string a = w.post(std::string(kMaps), map("a")).at({"metadata", "uid"});
  const std::string b = w.post(std::string(kMaps), map("b", a, true, "a")).at({"metadata", "uid"});
  const std::string owner = reference("ConfigMap", "b", b);
  EXPECT_EQ(
      w.patch(path("a"), R"({"metadata":{"ownerReferences":[)" + owner.substr(0, owner.size() - 1) +
                             R"(,"blockOwnerDeletion":true}]}})")
          .status,
      200);
  EXPECT_EQ(w.remove(path("a"), "Foreground").status, 200);
  w.settle();
  EXPECT_EQ(w.get(path("a")).status, 404);
  EXPECT_EQ(w.get(path("b")).status, 404);
}

TEST(ApiServer, orphans_stay_and_forget_their_owner) {
  ServerWorld w;
  const std::string uid = w.post(std::string(kMaps), map("owner")).at({"metadata", "uid"});
  w.post(std::string(kMaps), map("child", uid));
  EXPECT_EQ(w.remove(path("owner"), "Orphan").status, 200);
  w.settle();
  EXPECT_EQ(w.get(path("owner")).status, 404);
  EXPECT_EQ(w.get(path("child")).at({"metadata", "ownerReferences"}), "absent");
}

TEST(ApiServer, a_namespace_goes_when_it_is_empty) {
  ServerWorld w;
  w.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  w.settle();
  w.post("/api/v1/namespaces/n/configmaps",
         R"({"metadata":{"name":"held","finalizers":["example.com/hold"]}})");
  w.post("/api/v1/namespaces/n/secrets", R"({"metadata":{"name":"s"}})");
  EXPECT_EQ(w.remove("/api/v1/namespaces/n", "Background").status, 200);
  EXPECT_EQ(w.get("/api/v1/namespaces/n").at({"status", "phase"}), "\"Terminating\"");
  EXPECT_EQ(
      w.call("POST", "/api/v1/namespaces/n/configmaps", R"({"metadata":{"name":"late"}})").status,
      403);
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/n/secrets/s").status, 404);
  const std::string waiting = w.get("/api/v1/namespaces/n").body;
  EXPECT_TRUE(
      waiting.contains("Some resources are remaining: configmaps. has 1 resource instances"))
      << waiting;
  const std::string held =
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource "
      "instances";
  EXPECT_TRUE(waiting.contains(held)) << waiting;
  EXPECT_TRUE(waiting.contains("SomeFinalizersRemain")) << waiting;
  EXPECT_FALSE(waiting.contains("ContentHasNoFinalizers")) << waiting;
  EXPECT_EQ(
      w.patch("/api/v1/namespaces/n/configmaps/held", R"({"metadata":{"finalizers":null}})").status,
      200);
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/n").status, 404);
}

TEST(ApiServer, a_namespace_goes_although_the_version_of_the_storage_is_not_served) {
  ServerWorld w;
  std::string text = definition("things", "Thing");
  text.replace(text.find(R"([{"name":"v1","served":true,"storage":true)"), 42,
               R"([{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":)"
               R"({"type":"object"}}},{"name":"v1","served":false,"storage":true)");
  w.post(std::string(kDefinitions), text);
  w.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  const std::string things = "/apis/example.com/v2/namespaces/n/things";
  w.post(things, R"({"apiVersion":"example.com/v2","kind":"Thing","metadata":{"name":"t"}})");
  EXPECT_EQ(w.get("/apis/example.com/v1/namespaces/n/things/t").status, 404);
  EXPECT_EQ(w.remove("/api/v1/namespaces/n", "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/n").status, 404);
}

TEST(ApiServer, gives_a_namespace_back_what_belongs_into_it) {
  ServerWorld w;
  EXPECT_EQ(w.remove("/api/v1/namespaces/default/serviceaccounts/default", "Background").status,
            200);
  EXPECT_EQ(w.patch("/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
                    R"({"data":{"ca.crt":"forged"}})")
                .status,
            200);
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/default/serviceaccounts/default").status, 200);
  EXPECT_TRUE(w.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
                  .body.contains("BEGIN CERTIFICATE"));
  EXPECT_EQ(w.remove("/api/v1/namespaces/default", "Background").status, 403);
}

constexpr std::string_view kEvent =
    R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},)"
    R"("reason":"Tested","type":"Normal"})";

TEST(ApiServer, events_go_after_an_hour_whatever_restarts_in_between) {
  ServerWorld w;
  w.post("/api/v1/namespaces/default/events", std::string(kEvent));
  w.advance(minutes(40));
  w.stop();
  w.start();
  w.advance(minutes(18));
  EXPECT_EQ(w.get("/api/v1/namespaces/default/events/e").status, 200);
  w.advance(minutes(3));
  EXPECT_EQ(w.get("/api/v1/namespaces/default/events/e").status, 404);
}

TEST(ApiServer, events_go_after_an_hour) {
  ServerWorld w;
  w.post("/api/v1/namespaces/default/events", std::string(kEvent));
  w.advance(minutes(59));
  EXPECT_EQ(w.get("/api/v1/namespaces/default/events/e").status, 200);
  w.advance(minutes(2));
  EXPECT_EQ(w.get("/api/v1/namespaces/default/events/e").status, 404);
}

TEST(ApiServer, a_service_that_changes_its_type_gives_its_ports_back) {
  ServerWorld w;
  const std::string services = "/api/v1/namespaces/default/services";
  const auto with_port = [](std::string_view name) {
    return R"({"metadata":{"name":")" + std::string(name) +
           R"("},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30080}]}})";
  };
  const Answer made = w.post(services, with_port("a"));
  const Answer inner = w.patch(services + "/a", R"({"spec":{"type":"ClusterIP"}})");
  EXPECT_EQ(inner.status, 200) << inner.body;
  EXPECT_EQ(inner.at({"spec", "ports"}), R"([{"port":80,"protocol":"TCP","targetPort":80}])");
  EXPECT_EQ(inner.at({"spec", "clusterIP"}), made.at({"spec", "clusterIP"}));
  EXPECT_EQ(inner.at({"spec", "externalTrafficPolicy"}), "absent");
  EXPECT_EQ(w.call("POST", services, with_port("b")).status, 201) << "the port is free again";

  const Answer name =
      w.patch(services + "/a", R"({"spec":{"type":"ExternalName","externalName":"example.com"}})");
  EXPECT_EQ(name.status, 200) << name.body;
  for (std::string_view key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    EXPECT_EQ(name.at({"spec", key}), "absent");
  }
  const Answer back = w.patch(services + "/a", R"({"spec":{"type":"ClusterIP"}})");
  EXPECT_EQ(back.status, 200) << back.body;
  EXPECT_NE(back.at({"spec", "clusterIP"}), "absent");
}

TEST(ApiServer, quotas_show_what_is_used) {
  ServerWorld w;
  w.post("/api/v1/namespaces/default/resourcequotas",
         R"({"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"2"}}})");
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/default/resourcequotas/q").at({"status"}),
            R"({"hard":{"configmaps":"2"},"used":{"configmaps":"1"}})");
  w.post(std::string(kMaps), map("a"));
  EXPECT_EQ(w.call("POST", std::string(kMaps), map("b")).status, 403);
  w.settle();
  EXPECT_EQ(w.get("/api/v1/namespaces/default/resourcequotas/q").at({"status", "used"}),
            R"({"configmaps":"2"})");
}

TEST(ApiServer, a_user_can_do_what_a_role_says_and_nothing_else) {
  ServerWorld w;
  const std::string group = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  w.post(group + "/roles",
         R"({"metadata":{"name":"maps"},"rules":[{"apiGroups":[""],"resources":["configmaps"],)"
         R"("verbs":["get","create"]}]})");
  w.post(group + "/rolebindings",
         R"({"metadata":{"name":"maps"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
         R"("kind":"Role","name":"maps"},"subjects":[{"kind":"User","name":"ann"}]})");
  const auto as_ann = [&](std::string method, std::string where, std::string body = "") {
    return w.call(std::move(method), std::move(where), std::move(body), "application/json", "ann",
                  {});
  };
  EXPECT_EQ(as_ann("POST", std::string(kMaps), map("x")).status, 201);
  EXPECT_EQ(as_ann("GET", path("x")).status, 200);
  EXPECT_EQ(as_ann("DELETE", path("x")).status, 403);
  EXPECT_EQ(as_ann("GET", std::string(kMaps)).status, 403);
  EXPECT_EQ(as_ann("GET", "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt").status,
            403);
  const Answer refused = as_ann("GET", "/api/v1/namespaces/default/secrets/x");
  EXPECT_EQ(refused.at({"message"}),
            R"("secrets \"x\" is forbidden: User \"ann\" cannot get resource \"secrets\" in API )"
            R"(group \"\" in the namespace \"default\"")");
}

TEST(ApiServer, a_pod_finds_its_token_where_programs_look_for_it) {
  ServerWorld w;
  const Answer pod = w.post("/api/v1/namespaces/default/pods",
                            R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                            R"("image":"x"}]}})");
  EXPECT_EQ(pod.at({"spec", "serviceAccountName"}), "\"default\"");
  EXPECT_TRUE(pod.body.contains("/var/run/secrets/kubernetes.io/serviceaccount"));
}

TEST(ApiServer, rules_of_a_definition_hold) {
  ServerWorld w;
  w.post(
      std::string(kDefinitions),
      R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":)"
      R"("Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1",)"
      R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":)"
      R"({"spec":{"type":"object","properties":{"size":{"type":"integer"}},)"
      R"("x-kubernetes-validations":[{"rule":"self.size > 2","message":"too small"}]}}}}}]}})");
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  const std::string head =
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},)";
  const Answer refused = w.call("POST", things, head + R"("spec":{"size":2}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(refused.body.contains("too small"));
  w.post(things, head + R"("spec":{"size":3}})");
}

TEST(ApiServer, a_definition_serves_its_objects_at_once) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  w.post(
      definitions,
      R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":)"
      R"("Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1",)"
      R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":)"
      R"({"spec":{"type":"object","properties":{"size":{"type":"integer","default":3}}}}}}}]}})");
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  const Answer made =
      w.post(things, R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},)"
                     R"("spec":{"colour":"red"}})");
  EXPECT_EQ(made.at({"spec"}), R"({"size":3})");
  EXPECT_EQ(w.remove(definitions + "/things.example.com", "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(things).status, 404);
}

TEST(ApiServer, a_definition_that_goes_lets_its_objects_finish) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  w.post(definitions, definition("fruits", "Fruit"));
  const std::string fruits = "/apis/example.com/v1/namespaces/default/fruits";
  const auto fruit = [](const std::string& name, const std::string& finalizers) {
    return R"({"apiVersion":"example.com/v1","kind":"Fruit","metadata":{"name":")" + name +
           R"(","finalizers":)" + finalizers + "}}";
  };
  w.post(fruits, fruit("held", R"(["example.com/hold"])"));
  w.post(fruits, fruit("free", "[]"));
  EXPECT_EQ(w.remove(definitions + "/fruits.example.com", "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(fruits + "/free").status, 404);
  EXPECT_NE(w.get(fruits + "/held").at({"metadata", "deletionTimestamp"}), "absent");
  EXPECT_TRUE(w.get("/apis/example.com/v1")
                  .body.contains(R"("verbs":["delete","deletecollection","get","list","watch"])"));
  // Nothing new may come, in whatever way.
  const std::string refused =
      R"("fruits.example.com \"new\" is forbidden: create not allowed while custom resource )"
      R"(definition is terminating")";
  const Answer created = w.call("POST", fruits, fruit("new", "[]"));
  EXPECT_EQ(created.status, 403);
  EXPECT_EQ(created.at({"message"}), refused);
  const Answer applied = w.call("PATCH", fruits + "/new?fieldManager=m",
                                "apiVersion: example.com/v1\nkind: Fruit\nmetadata: {name: new}\n",
                                "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 403);
  EXPECT_EQ(applied.at({"message"}), refused);
  // Existing objects may be written, and go when their finalizers are gone.
  EXPECT_EQ(w.patch(fruits + "/held", R"({"metadata":{"labels":{"seen":"yes"}}})").status, 200);
  EXPECT_EQ(w.get(definitions + "/fruits.example.com").status, 200);
  EXPECT_EQ(w.patch(fruits + "/held", R"({"metadata":{"finalizers":null}})").status, 200);
  w.settle();
  EXPECT_EQ(w.get(definitions + "/fruits.example.com").status, 404);
  EXPECT_EQ(w.get(fruits).status, 404);
}

std::string version(std::string_view name, bool storage) {
  return R"({"name":")" + std::string(name) + R"(","served":true,"storage":)" +
         (storage ? "true" : "false") +
         R"(,"schema":{"openAPIV3Schema":{"type":"object",)"
         R"("x-kubernetes-preserve-unknown-fields":true}}})";
}

TEST(ApiServer, objects_outlive_the_storage_version_they_were_written_in) {
  ServerWorld w;
  const std::string definitions(kDefinitions);
  w.post(definitions,
         R"({"metadata":{"name":"fruits.example.com"},"spec":{"group":"example.com","scope":)"
         R"("Namespaced","names":{"plural":"fruits","kind":"Fruit"},"versions":[)" +
             version("v1alpha1", true) + "]}}");
  const std::string a = w.post(std::string(kMaps), map("a")).at({"metadata", "uid"});
  const std::string b = w.post(std::string(kMaps), map("b")).at({"metadata", "uid"});
  const std::string owners =
      "[" + reference("ConfigMap", "a", a) + "," + reference("ConfigMap", "b", b) + "]";
  w.post("/apis/example.com/v1alpha1/namespaces/default/fruits",
         R"({"apiVersion":"example.com/v1alpha1","kind":"Fruit","metadata":{"name":"f",)"
         R"("ownerReferences":)" +
             owners + "}}");
  const Answer upgraded = w.patch(
      definitions + "/fruits.example.com",
      R"({"spec":{"versions":[)" + version("v1", true) + "," + version("v1alpha1", false) + "]}}");
  EXPECT_EQ(upgraded.status, 200) << upgraded.body;
  EXPECT_EQ(upgraded.at({"status", "storedVersions"}), R"(["v1alpha1","v1"])");
  const std::string fruit = "/apis/example.com/v1/namespaces/default/fruits/f";
  EXPECT_EQ(w.get(fruit).at({"apiVersion"}), R"("example.com/v1")");
  EXPECT_EQ(w.remove(path("a"), "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(fruit).at({"metadata", "ownerReferences"}),
            "[" + reference("ConfigMap", "b", b) + "]")
      << "the garbage collector writes the version that is stored now";
  EXPECT_EQ(w.patch(fruit, R"({"spec":{"colour":"red"}})").status, 200);
  EXPECT_EQ(w.remove(path("b"), "Background").status, 200);
  w.settle();
  EXPECT_EQ(w.get(fruit).status, 404);
}

}  // namespace
}  // namespace codeflare::apiserver
