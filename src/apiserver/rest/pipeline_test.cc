#include "apiserver/rest/testing/api_world.h"
#include "apiserver/rest/testing/held_body.h"
#include "base/async/sleep.h"
#include "base/async/when.h"
#include "net/cut_body.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

TEST(Discovery, the_old_documents_name_versions_groups_and_resources) {
  ApiWorld world;
  EXPECT_EQ(world.get("/api").at("versions.0"), "v1");
  Answer groups = world.get("/apis");
  EXPECT_EQ(groups.at("kind"), "APIGroupList");
  EXPECT_GT(groups.size("groups"), 15u);
  Answer batch = world.get("/apis/batch");
  EXPECT_EQ(batch.at("preferredVersion.groupVersion"), "batch/v1");
  Answer core = world.get("/api/v1");
  EXPECT_EQ(core.at("kind"), "APIResourceList");
  EXPECT_EQ(core.at("groupVersion"), "v1");
  EXPECT_TRUE(core.body.contains(
      R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]})"));
  EXPECT_TRUE(core.body.contains(R"("name":"pods","singularName":"pod")"));
  EXPECT_EQ(world.get("/apis/batch/v1").at("groupVersion"), "batch/v1");
  EXPECT_EQ(world.get("/apis/batch/v9").status, 404);
  EXPECT_EQ(world.get("/apis/nope").status, 404);
  EXPECT_EQ(world.get("/api/v2").status, 404);
}

TEST(Discovery, the_aggregated_documents_hold_everything_at_once) {
  ApiWorld world;
  for (const char* version : {"v2", "v2beta1"}) {
    const std::string type = "application/json;g=apidiscovery.k8s.io;v=" + std::string(version) +
                             ";as=APIGroupDiscoveryList";
    Answer core = world.get("/api", {{"Accept", type + ",application/json"}});
    EXPECT_EQ(core.at("kind"), "APIGroupDiscoveryList");
    EXPECT_EQ(core.at("apiVersion"), "apidiscovery.k8s.io/" + std::string(version));
    EXPECT_EQ(core.headers.get("Content-Type"), type);
    EXPECT_EQ(core.at("items.0.metadata.name"), "<absent>");
    EXPECT_EQ(core.at("items.0.versions.0.freshness"), "Current");
    Answer groups = world.get("/apis", {{"Accept", type}});
    EXPECT_GT(groups.size("items"), 15u);
    EXPECT_TRUE(groups.body.contains(R"("subresource":"scale")"));
  }
}

TEST(Discovery, an_unchanged_document_is_304_and_a_new_resource_changes_it) {
  ApiWorld world;
  const std::string etag(world.get("/apis").headers.get("ETag").value_or(""));
  ASSERT_FALSE(etag.empty());
  EXPECT_EQ(world.get("/apis", {{"If-None-Match", etag}}).status, 304);
  world.add_custom();
  Answer changed = world.get("/apis", {{"If-None-Match", etag}});
  EXPECT_EQ(changed.status, 200);
  EXPECT_TRUE(changed.body.contains("example.com"));
}

TEST(Version, is_that_of_the_kubernetes_it_imitates) {
  ApiWorld world;
  Answer version = world.get("/version?timeout=32s");
  EXPECT_EQ(version.at("major"), "1");
  EXPECT_EQ(version.at("minor"), "34");
  EXPECT_TRUE(version.at("gitVersion").starts_with("v1.34."));
}

TEST(Health, is_told_to_those_who_may_ask) {
  ApiWorld world;
  const net::Headers nobody = {{"X-Test-User", "probe"}};
  for (const char* path : {"/healthz", "/livez", "/readyz", "/readyz/ping", "/livez/ping"}) {
    Answer answer = world.get(path, nobody);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, "ok");
  }
  EXPECT_EQ(world.get("/readyz?verbose", nobody).body,
            "[+]ping ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n");
  EXPECT_EQ(world.get("/livez?verbose", nobody).body, "[+]ping ok\nlivez check passed\n");
  EXPECT_TRUE(
      world.get("/readyz?verbose&exclude=store", nobody).body.contains("[+]store excluded: ok"));
  EXPECT_EQ(world.get("/readyz/nope").status, 404);
}

TEST(Health, readiness_ends_with_the_service) {
  ApiWorld world;
  world.run([](ApiService& service) -> Task<int> {
    co_await service.close();
    co_return 0;
  }(world.service()));
  EXPECT_EQ(world.get("/readyz").status, 500);
  EXPECT_EQ(world.get("/livez").status, 200);
}

TEST(Metrics, count_requests_by_what_they_were_about) {
  ApiWorld world;
  world.get(kMaps);
  world.get(kMaps + "/nope");
  world.get("/apis/stranger.example/v1/some");
  world.request({.method = "STRANGER", .target = kMaps});
  const std::string text = world.get("/metrics").body;
  EXPECT_TRUE(text.contains(
      R"(apiserver_request_total{verb="list",group="",version="v1",resource="configmaps",subresource="",scope="namespace",code="200"} 1)"))
      << text;
  EXPECT_TRUE(
      text.contains(R"(resource="configmaps",subresource="",scope="resource",code="404"} 1)"));
  EXPECT_TRUE(text.contains("apiserver_request_duration_seconds_bucket"));
  EXPECT_FALSE(text.contains("stranger")) << "names that are not served are no labels";
}

// A body that comes drop by drop and never ends.
class Drops final : public net::BodyStream {
 public:
  Task<Result<Bytes>> read() override {
    CO_TRY(co_await sleep_for(std::chrono::seconds(5)));
    co_return Bytes::from_static(" ");
  }
};

Answer post_drops(ApiWorld& world, std::string target, std::string user = "") {
  net::Request request{.method = "POST", .target = std::move(target)};
  if (!user.empty()) {
    request.headers.set("X-Test-User", std::move(user));
  }
  request.body = std::make_unique<Drops>();
  return world.request(std::move(request));
}

TEST(Timeout, a_request_that_takes_more_than_a_minute_is_504) {
  ApiWorld world;
  const Instant begun = world.env().clock.now();
  Answer answer = post_drops(world, kMaps);
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.at("reason"), "Timeout");
  EXPECT_EQ(answer.at("message"),
            "Timeout: request did not complete within requested timeout - context deadline "
            "exceeded");
  const Duration took = world.env().clock.now() - begun;
  EXPECT_GE(took, std::chrono::seconds(60));
  EXPECT_LT(took, std::chrono::seconds(61));
}

TEST(Timeout, clients_can_ask_for_less_but_not_for_more) {
  ApiWorld world;
  Instant begun = world.env().clock.now();
  EXPECT_EQ(post_drops(world, kMaps + "?timeout=2s").status, 504);
  EXPECT_LT(world.env().clock.now() - begun, std::chrono::seconds(3));
  begun = world.env().clock.now();
  EXPECT_EQ(post_drops(world, kMaps + "?timeout=1h").status, 504);
  EXPECT_LT(world.env().clock.now() - begun, std::chrono::seconds(61));
  Answer wrong = world.get(kMaps + "?timeout=soon");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.at("message"),
            "invalid timeout specified in the request URL - time: invalid duration \"soon\"");
}

TEST(Access, no_credentials_are_401) {
  ApiWorld world;
  Answer answer = world.get(kMaps, {{"X-Test-User", "anonymous"}});
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.at("reason"), "Unauthorized");
  EXPECT_EQ(answer.at("message"), "Unauthorized");
}

TEST(Access, who_may_not_is_told_so_without_waiting_for_the_body) {
  ApiWorld world;
  world.allow = [](const User&, const Access&) { return false; };
  const Instant begun = world.env().clock.now();
  EXPECT_EQ(post_drops(world, kMaps, "anonymous").status, 401);
  EXPECT_EQ(post_drops(world, kMaps, "ann").status, 403);
  EXPECT_EQ(world.env().clock.now(), begun);
}

TEST(Access, what_is_not_allowed_is_403_in_upstreams_words) {
  ApiWorld world;
  world.allow = [](const User&, const Access&) { return false; };
  const net::Headers ann = {{"X-Test-User", "ann"}};
  EXPECT_EQ(world.get(kMaps, ann).at("message"),
            "configmaps is forbidden: User \"ann\" cannot list resource \"configmaps\" in API "
            "group \"\" in the namespace \"default\"");
  EXPECT_EQ(world.get("/apis/batch/v1/jobs", ann).at("message"),
            "jobs.batch is forbidden: User \"ann\" cannot list resource \"jobs\" in API group "
            "\"batch\" at the cluster scope");
  EXPECT_EQ(world.get(kMaps + "/x", ann).at("message"),
            "configmaps \"x\" is forbidden: User \"ann\" cannot get resource \"configmaps\" in "
            "API group \"\" in the namespace \"default\"");
  Answer path = world.get("/metrics", ann);
  EXPECT_EQ(path.status, 403);
  EXPECT_EQ(path.at("message"), "forbidden: User \"ann\" cannot get path \"/metrics\"");
}

TEST(Access, is_asked_with_verb_subresource_and_name) {
  ApiWorld world;
  Access seen;
  world.allow = [&](const User&, const Access& access) {
    seen = access;
    return true;
  };
  world.get("/apis/apps/v1/namespaces/n/deployments/d/scale", {{"X-Test-User", "ann"}});
  EXPECT_EQ(seen.verb, "get");
  EXPECT_EQ(seen.group, "apps");
  EXPECT_EQ(seen.resource, "deployments");
  EXPECT_EQ(seen.subresource, "scale");
  EXPECT_EQ(seen.ns, "n");
  EXPECT_EQ(seen.name, "d");
}

TEST(Impersonation, acts_as_somebody_else_when_allowed) {
  ApiWorld world;
  std::string who;
  world.allow = [&](const User& user, const Access&) {
    who = user.name;
    return true;
  };
  EXPECT_EQ(world.get(kMaps, {{"Impersonate-User", "bob"}}).status, 200);
  EXPECT_EQ(who, "bob");
}

TEST(Impersonation, each_header_needs_its_permission) {
  ApiWorld world;
  world.allow = [](const User& user, const Access& access) {
    return user.name != "ann" || (access.verb == "impersonate" && access.resource == "users");
  };
  const net::Headers::Field ann{"X-Test-User", "ann"};
  EXPECT_EQ(world.get(kMaps, {ann, {"Impersonate-User", "bob"}}).status, 200);
  Answer group =
      world.get(kMaps, {ann, {"Impersonate-User", "bob"}, {"Impersonate-Group", "system:masters"}});
  EXPECT_EQ(group.status, 403);
  EXPECT_EQ(group.at("message"),
            "groups \"system:masters\" is forbidden: User \"ann\" cannot impersonate resource "
            "\"groups\" in API group \"\" at the cluster scope");
  EXPECT_EQ(world.get(kMaps, {ann, {"Impersonate-User", "system:serviceaccount:n:s"}}).status, 403);
  EXPECT_EQ(world.get(kMaps, {{"Impersonate-Group", "g"}}).status, 400);
}

TEST(InFlight, beyond_the_limit_is_429_with_retry_after) {
  ApiWorld world({.service = {.in_flight_max = 0}});
  Answer answer = world.get(kMaps);
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.headers.get("Retry-After"), "1");
  EXPECT_EQ(answer.at("reason"), "TooManyRequests");
  EXPECT_EQ(world.get("/readyz").status, 200) << "health is always answered";
  EXPECT_EQ(world.watch(kMaps + "?watch=1").status(), 200) << "watches do not count";
}

Task<int> post_held(net::HttpService& service, Gate& gate, std::string name) {
  std::string text = R"({"metadata":{"name":")" + name + R"("}})";
  net::Request request{.method = "POST", .target = kMaps};
  request.headers.set("Content-Type", "application/json");
  request.body_size = text.size();
  request.body = std::make_unique<HeldBody>(gate, std::move(text));
  Result<net::Response> response = co_await service.send(std::move(request));
  co_return response ? response->status : 0;
}

// One more than the limit at once, then the gate opens: their statuses.
Task<std::vector<int>> post_three(net::HttpService& service) {
  Gate gate;
  std::vector<Task<int>> posts;
  for (const std::string name : {"a", "b", "c"}) {
    posts.push_back(post_held(service, gate, name));
  }
  posts.push_back([](Gate& when_all_wait) -> Task<int> {
    static_cast<void>(co_await sleep_for(std::chrono::seconds(1)));
    when_all_wait.let_go();
    co_return 0;
  }(gate));
  co_return co_await when_all(std::move(posts));
}

TEST(InFlight, as_many_as_the_limit_are_served_and_places_are_given_back) {
  ApiWorld world({.service = {.in_flight_max = 2}});
  const std::vector<int> statuses = world.run(post_three(world.service()));
  EXPECT_EQ(statuses, (std::vector<int>{201, 201, 429, 0}));
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"c"}})").status, 201);
  const std::string metrics = world.get("/metrics").body;
  EXPECT_TRUE(metrics.contains(R"(code="429"} 1)")) << "refusals are counted as requests";
  EXPECT_TRUE(metrics.contains("apiserver_current_inflight_requests{request_kind=\"all\"} 1"))
      << "this one alone";
}

// A body of which the rest comes when it is let go.
class HalfBody final : public net::BodyStream {
 public:
  HalfBody(Gate& gate, std::string text)
      : first_(text.substr(0, text.size() - 1)), rest_(gate, text.substr(text.size() - 1)) {}
  Task<Result<Bytes>> read() override {
    if (!first_.empty()) {
      co_return Bytes::from(std::exchange(first_, ""));
    }
    co_return co_await rest_.read();
  }

 private:
  std::string first_;
  HeldBody rest_;
};

std::string map_of(std::string_view name, std::size_t bytes) {
  return R"({"metadata":{"name":")" + std::string(name) + R"("},"data":{"x":")" +
         std::string(bytes, 'x') + R"("}})";
}

Task<int> post_map(net::HttpService& service, net::Body body) {
  net::Request request{.method = "POST", .target = kMaps};
  request.headers.set("Content-Type", "application/json");
  request.body = std::move(body);
  Result<net::Response> response = co_await service.send(std::move(request));
  if (response && response->status == 429) {
    EXPECT_EQ(response->headers.get("Retry-After"), "1");
  }
  co_return response ? response->status : 0;
}

// The answer is kept, not taken.
Task<int> list_into(net::HttpService& service, net::Response& kept) {
  Result<net::Response> response = co_await service.send({.target = kMaps});
  CHECK(response.has_value());
  kept = *std::move(response);
  co_return kept.status;
}

Task<int> list_maps(net::HttpService& service) {
  net::Response response;
  co_return co_await list_into(service, response);
}

using Other = std::function<Task<int>(net::HttpService&)>;

// While the last byte of a body of that size does not come: what the other gets, then what the
// first gets when it has come.
std::pair<int, int> beside_half_body(ApiWorld& world, std::size_t bytes, Other other) {
  struct Both {
    static Task<int> other_first(net::HttpService& service, Gate& gate, Other other) {
      const int status = co_await other(service);
      gate.let_go();
      co_return status;
    }
    static Task<std::vector<int>> run(net::HttpService& service, std::size_t bytes, Other other) {
      Gate gate;
      std::vector<Task<int>> tasks;
      tasks.push_back(post_map(service, std::make_unique<HalfBody>(gate, map_of("half", bytes))));
      tasks.push_back(other_first(service, gate, other));
      co_return co_await when_all(std::move(tasks));
    }
  };
  const std::vector<int> statuses = world.run(Both::run(world.service(), bytes, other));
  return {statuses[1], statuses[0]};
}

TEST(InFlight, a_request_whose_body_has_not_ended_holds_no_place) {
  ApiWorld world({.service = {.in_flight_max = 1}});
  EXPECT_EQ(beside_half_body(world, 1, list_maps), std::pair(200, 201));
  EXPECT_EQ(world.get(kMaps).status, 200) << "all places were given back";
}

TEST(InFlight, a_request_for_which_there_is_no_place_when_its_body_has_ended_does_nothing) {
  ApiWorld world({.service = {.in_flight_max = 1}});
  net::Response kept;
  const auto [list, post] = beside_half_body(
      world, 1, [&](net::HttpService& service) { return list_into(service, kept); });
  EXPECT_EQ(list, 200);
  EXPECT_EQ(post, 429);
  kept = {};
  EXPECT_EQ(world.get(kMaps + "/half").status, 404);
}

TEST(InFlight, calls_of_the_own_process_need_no_place) {
  ApiWorld world({.service = {.in_flight_max = 0}});
  EXPECT_EQ(world.run(list_maps(world.service())), 429);
  EXPECT_EQ(world.run(list_maps(world.service().uncounted())), 200);
  EXPECT_EQ(world.run(post_map(world.service().uncounted(), net::body_of(map_of("own", 1)))), 201);
}

TEST(UnfinishedBodies, that_hold_all_there_is_keep_out_large_ones_only) {
  constexpr std::size_t kHalf = 100'000;  // may take twice as much
  constexpr std::size_t kLarge = 130'000;
  ApiWorld world({.service = {.unfinished_bytes_max = 220'000}});
  EXPECT_EQ(beside_half_body(world, kHalf,
                             [](net::HttpService& service) {
                               return post_map(service, net::body_of(map_of("large", kLarge)));
                             }),
            std::pair(429, 201));
  EXPECT_EQ(world.remove(kMaps + "/half").status, 200);
  EXPECT_EQ(beside_half_body(world, kHalf,
                             [](net::HttpService& service) {
                               return post_map(service, net::body_of(map_of("small", 60'000)));
                             }),
            std::pair(201, 201));
  EXPECT_EQ(world.post(kMaps, map_of("large", kLarge)).status, 201) << "it was given back";
}

Task<net::Response> open_list(net::HttpService& service) {
  Result<net::Response> response = co_await service.send({.target = kMaps});
  CHECK(response.has_value());
  co_return *std::move(response);
}

TEST(InFlight, a_response_that_is_not_taken_yet_keeps_its_place) {
  ApiWorld world({.service = {.in_flight_max = 1}});
  {
    const net::Response slow = world.run(open_list(world.service()));
    EXPECT_EQ(slow.status, 200);
    EXPECT_EQ(world.get(kMaps).status, 429);
  }
  EXPECT_EQ(world.get(kMaps).status, 200);
}

bool is_cut(const net::Response& response) {
  return dynamic_cast<const net::CutBody&>(*response.body).cut().stop_requested();
}

TEST(InFlight, a_response_of_which_nothing_is_taken_for_a_second_makes_room) {
  ApiWorld world({.service = {.in_flight_max = 1}});
  const net::Response slow = world.run(open_list(world.service()));
  world.advance(std::chrono::milliseconds(999));
  EXPECT_EQ(world.get(kMaps).status, 429);
  EXPECT_FALSE(is_cut(slow));
  world.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(world.get(kMaps).status, 200);
  EXPECT_TRUE(is_cut(slow));
  EXPECT_FALSE(slow.body->ready().has_value());
  EXPECT_EQ(world.run(slow.body->read()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(world.get(kMaps).status, 200) << "a place is not given back twice";
  const net::Response other = world.run(open_list(world.service()));
  EXPECT_EQ(world.get(kMaps).status, 429);
}

TEST(InFlight, a_response_that_is_being_taken_is_not_cut) {
  ApiWorld world({.service = {.in_flight_max = 2}});
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"a"}})").status, 201);
  const net::Response taken = world.run(open_list(world.service()));
  const net::Response untaken = world.run(open_list(world.service()));
  world.advance(std::chrono::milliseconds(900));
  EXPECT_TRUE(world.run(taken.body->read()));
  world.advance(std::chrono::milliseconds(900));
  EXPECT_EQ(world.get(kMaps).status, 200) << "the other makes room, though it was made later";
  EXPECT_TRUE(is_cut(untaken));
  EXPECT_FALSE(is_cut(taken));
  EXPECT_TRUE(world.run(taken.body->read()));
}

TEST(DiskFull, is_503_with_retry_after_reads_go_on_and_it_heals_without_a_write) {
  ApiWorld world;
  world.disk().fail_appends({.error = resource_exhausted("no room"), .count = 3});
  const Answer refused = world.post(kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  EXPECT_EQ(refused.at("details.retryAfterSeconds"), "1");
  EXPECT_EQ(world.get(kMaps).status, 200);
  EXPECT_EQ(world.get("/readyz").status, 500);
  EXPECT_EQ(world.get("/livez").status, 200);
  world.advance(std::chrono::seconds(30));
  EXPECT_EQ(world.get("/readyz").status, 200) << "there is room again";
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"a"}})").status, 201);
}

TEST(Methods, that_a_resource_does_not_have_are_405) {
  ApiWorld world;
  EXPECT_EQ(world.request({.method = "OPTIONS", .target = kMaps}).status, 405);
  EXPECT_EQ(world.put(kMaps, "{}").status, 405);
  EXPECT_EQ(world.post(kMaps + "/a", "{}").status, 405);
  EXPECT_EQ(world.post("/api/v1/configmaps", R"({"metadata":{"name":"a"}})").status, 405);
  EXPECT_EQ(world.put("/api/v1/configmaps", "{}").status, 405);
  EXPECT_EQ(world.patch("/api/v1/configmaps", "merge", "{}").status, 405);
  EXPECT_EQ(world.get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").status, 405);
  EXPECT_EQ(world.post("/metrics", "").status, 405);
}

TEST(Methods, head_is_for_custom_resources_only) {
  ApiWorld world;
  world.add_custom();
  EXPECT_EQ(world.request({.method = "HEAD", .target = kMaps}).status, 405);
  EXPECT_EQ(world.request({.method = "HEAD", .target = "/api/v1/nodes"}).status, 405);
  EXPECT_EQ(world.request({.method = "HEAD", .target = "/apis/example.com/v1/things"}).status, 200);
}

TEST(Paths, that_cannot_be_are_404_or_400) {
  ApiWorld world;
  EXPECT_EQ(world.get("/nope").status, 404);
  EXPECT_EQ(world.put("/nope", "{}").status, 404);
  EXPECT_EQ(world.remove("/apis/nope.example.com").status, 404);
  EXPECT_EQ(world.get("/api/v1/namespaces/n/nodes").status, 404);
  EXPECT_EQ(world.post("/api/v1/namespaces/n/nodes", "{}").status, 404);
  EXPECT_EQ(world.get("/api/v1/configmaps/a").status, 404);
  EXPECT_EQ(world.put("/api/v1/configmaps/a", "{}").status, 404);
  EXPECT_EQ(world.patch("/api/v1/configmaps/a", "merge", "{}").status, 404);
  EXPECT_EQ(world.remove("/api/v1/configmaps/a").status, 404);
  EXPECT_EQ(world.get(kMaps + "/a/nope").status, 404);
  EXPECT_EQ(world.get("/api/v1/%zz").status, 400);
}

TEST(Paths, can_be_added) {
  ApiWorld world;
  world.service().add_path(
      "/openapi/v3",
      [](const RequestInfo& info, const net::Request&) -> Task<Result<net::Response>> {
        net::Response response =
            net::make_response(200, "text/plain", Bytes::from("at " + info.path));
        co_return response;
      });
  EXPECT_EQ(world.get("/openapi/v3").body, "at /openapi/v3");
  EXPECT_EQ(world.get("/openapi/v3/api/v1").body, "at /openapi/v3/api/v1");
  EXPECT_EQ(world.get("/openapi/v3x").status, 404);
}

TEST(Warnings, webhooks_are_stored_and_not_called) {
  ApiWorld world;
  Answer made = world.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                           R"({"metadata":{"name":"w"},"webhooks":[]})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_TRUE(made.headers.get("Warning").value_or("").contains("does not call them"));
}

class Counting final : public Admission {
 public:
  Result<void> mutate(AdmissionRequest& request) override {
    log += "m";
    request.on_finish.push_back([this](bool committed) { log += committed ? "+" : "-"; });
    return {};
  }
  Result<void> validate(AdmissionRequest& request) override {
    log += "v";
    if (refuse) {
      return fail(permission_denied("no"));
    }
    request.on_finish.push_back([this](bool committed) { log += committed ? "+" : "-"; });
    return {};
  }
  std::string log;
  bool refuse = false;
};

TEST(Admission, hears_of_the_end_of_every_write) {
  Counting admission;
  ApiWorld world({.admission = {&admission}});
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(admission.log, "mv++");
  admission.log.clear();
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"a"}})").status, 409);
  EXPECT_EQ(admission.log, "mv--");
  admission.log.clear();
  EXPECT_EQ(world.post(kMaps + "?dryRun=All", R"({"metadata":{"name":"b"}})").status, 201);
  EXPECT_EQ(admission.log, "mv--");
  admission.log.clear();
  EXPECT_EQ(world.remove(kMaps + "/a").status, 200);
  EXPECT_EQ(admission.log, "mv++");
  admission.log.clear();
  admission.refuse = true;
  EXPECT_EQ(world.post(kMaps, R"({"metadata":{"name":"c"}})").status, 403);
  EXPECT_EQ(admission.log, "mv-");
}

}  // namespace
}  // namespace codeflare::apiserver
