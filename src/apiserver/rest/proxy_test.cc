#include "apiserver/rest/internal/proxy_target.h"
#include "apiserver/rest/testing/api_world.h"
#include "net/testing/scripted_service.h"
#include "net/upgrade.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

const std::string kNamespace = "/api/v1/namespaces/default";
const std::string kPods = kNamespace + "/pods";
const std::string kServices = kNamespace + "/services";

// Pods that answer with what they were asked, or as a test says.
class EchoPods final : public ConnectHandler {
 public:
  Task<Result<net::Response>> connect(User, RequestInfo, ObjectPtr, net::Request) override {
    co_return fail(unsupported("not asked for here"));
  }
  Task<Result<net::Response>> proxy(ProxyTarget target, net::Request request) override {
    std::string said = std::string(target.tls ? "https " : "http ") +
                       std::string(target.pod->name()) + ":" + std::to_string(target.port) + " " +
                       request.method + " " + request.target;
    headers = request.headers;
    if (request.body != nullptr) {
      CO_TRY_ASSIGN(const std::string body,
                    co_await net::read_all(std::move(request.body), 1u << 20));
      said += " " + body;
    }
    if (respond) {
      co_return respond();
    }
    co_return net::make_response(200, "text/plain", Bytes::from(std::move(said)));
  }

  net::Headers headers;  // of the last request
  std::function<Result<net::Response>()> respond;
};

class ProxyWorld {
 public:
  EchoPods pods;
  ApiWorld world{{.connect = &pods}};

  void add_pod(const std::string& name) {
    const Answer made = world.post(kPods, R"({"metadata":{"name":")" + name +
                                              R"("},"spec":{"containers":[{"name":"c","image":"i",
      "ports":[{"containerPort":8000},{"name":"metrics","containerPort":9000}]}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  // Port 80 is http at 8080 of its pods, port 90 admin at 8090.
  void add_service(const std::string& name, std::string_view endpoints) {
    Answer made = world.post(kServices, R"({"metadata":{"name":")" + name + R"("},"spec":{"ports":[
      {"name":"http","port":80,"targetPort":8080},{"name":"admin","port":90,"targetPort":8090}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
    made = world.post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                      R"({"metadata":{"name":")" + name +
                          R"(-1","labels":{"kubernetes.io/service-name":")" + name +
                          R"("}},"addressType":"IPv4","ports":[
      {"name":"http","port":8080,"protocol":"TCP"},{"name":"admin","port":8090,"protocol":"TCP"}],
      "endpoints":[)" + std::string(endpoints) +
                          "]}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string endpoint(const std::string& pod, bool ready) {
    return R"({"addresses":["10.0.0.1"],"conditions":{"ready":)" +
           std::string(ready ? "true" : "false") + R"(},"targetRef":{"kind":"Pod","name":")" + pod +
           R"("}})";
  }
};

TEST(ProxyName, takes_scheme_name_and_port_apart) {
  const auto parts = [](std::string_view text) {
    const auto name = internal::parse_proxy_name(text);
    return name ? std::string(name->tls ? "tls " : "") + name->name + "|" + name->port : "invalid";
  };
  EXPECT_EQ(parts("web"), "web|");
  EXPECT_EQ(parts("web:80"), "web|80");
  EXPECT_EQ(parts("web:http"), "web|http");
  EXPECT_EQ(parts("web:"), "web|");
  EXPECT_EQ(parts("http:web:80"), "web|80");
  EXPECT_EQ(parts("https:web:"), "tls web|");
  EXPECT_EQ(parts(":web:80"), "web|80");
  for (const std::string_view bad : {"", ":", ":80", "ftp:web:80", "http::80", "https:web:80:1"}) {
    EXPECT_EQ(parts(bad), "invalid") << bad;
  }
}

TEST(Proxy, reaches_a_port_of_a_pod) {
  ProxyWorld w;
  w.add_pod("p");
  EXPECT_EQ(w.world.get(kPods + "/p/proxy/").body, "http p:8000 GET /");
  EXPECT_EQ(w.world.get(kPods + "/p:81/proxy/a").body, "http p:81 GET /a");
  EXPECT_EQ(w.world.get(kPods + "/p:metrics/proxy/a").body, "http p:9000 GET /a");
  EXPECT_EQ(w.world.get(kPods + "/https:p:443/proxy/a").body, "https p:443 GET /a");
  for (const std::string port : {"nope", "0", "65536", "-1"}) {
    const Answer answer = w.world.get(kPods + "/p:" + port + "/proxy/");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.at("message"), "no port \"" + port + "\" found for pod \"p\"");
  }
}

TEST(Proxy, reaches_a_ready_pod_behind_a_service_by_number_and_name_of_its_port) {
  ProxyWorld w;
  w.add_pod("a");
  w.add_pod("b");
  w.add_service("web", ProxyWorld::endpoint("a", false) + "," + ProxyWorld::endpoint("b", true) +
                           "," + ProxyWorld::endpoint("gone", true));
  // Another service whose name contains this one's.
  w.add_service("web-2", ProxyWorld::endpoint("a", true));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(w.world.get(kServices + "/web:80/proxy/").body, "http b:8080 GET /");
  }
  EXPECT_EQ(w.world.get(kServices + "/web:http/proxy/").body, "http b:8080 GET /");
  EXPECT_EQ(w.world.get(kServices + "/web:admin/proxy/").body, "http b:8090 GET /");
  EXPECT_EQ(w.world.get(kServices + "/https:web:90/proxy/").body, "https b:8090 GET /");
}

TEST(Proxy, says_what_is_missing) {
  ProxyWorld w;
  w.add_pod("a");
  w.add_service("web", ProxyWorld::endpoint("a", false));
  const auto said = [&](const std::string& path) {
    const Answer answer = w.world.get(path);
    return std::to_string(answer.status) + " " + answer.at("reason") + " " + answer.at("message");
  };
  EXPECT_EQ(said(kServices + "/web:80/proxy/"),
            "503 ServiceUnavailable no endpoints available for service \"web\"");
  EXPECT_EQ(said(kServices + "/web/proxy/"),
            "503 ServiceUnavailable no endpoints available for service \"web\"");
  EXPECT_EQ(said(kServices + "/web:81/proxy/"),
            "503 ServiceUnavailable no service port 81 found for service \"web\"");
  EXPECT_EQ(said(kServices + "/other:80/proxy/"), "404 NotFound services \"other\" not found");
  EXPECT_EQ(said(kPods + "/other:80/proxy/"), "404 NotFound pods \"other\" not found");
  EXPECT_EQ(said(kServices + "/ftp:web:80/proxy/"),
            "400 BadRequest invalid service request \"ftp:web:80\"");
  w.pods.respond = [] { return fail(unavailable("connection refused")); };
  EXPECT_EQ(said(kPods + "/a/proxy/"),
            "503 ServiceUnavailable error trying to reach service: connection refused");
}

TEST(Proxy, nobody_is_invited_to_repeat_what_may_have_had_an_effect) {
  ProxyWorld w;
  w.add_pod("a");
  w.pods.respond = [] { return fail(deadline_exceeded("connection closed")); };
  const Answer answer = w.world.post(kPods + "/a/proxy/jobs", "job");
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.at("reason"), "Timeout");
  EXPECT_EQ(answer.at("message"), "error trying to reach service: connection closed");
  EXPECT_FALSE(answer.headers.has("Retry-After"));
}

TEST(Proxy, without_a_node_is_a_clear_501) {
  ApiWorld world;
  ASSERT_EQ(
      world.post(kServices, R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}})").status,
      201);
  const Answer answer = world.get(kServices + "/web:80/proxy/");
  EXPECT_EQ(answer.status, 501);
  EXPECT_EQ(answer.at("message"), "no node serves services/proxy here");
  EXPECT_EQ(world.get(kServices + "/other:80/proxy/").status, 404);
}

TEST(Proxy, passes_method_path_query_and_body_on_as_they_came) {
  ProxyWorld w;
  w.add_pod("p");
  const std::string proxy = kPods + "/p:80/proxy";
  EXPECT_EQ(w.world.get(proxy + "/a%2Fb//c/?x=%20y&limit=3").body,
            "http p:80 GET /a%2Fb//c/?x=%20y&limit=3");
  EXPECT_EQ(w.world.post(proxy + "/api/jobs", "body").body, "http p:80 POST /api/jobs body");
  EXPECT_EQ(w.world.post(proxy, "body").body, "http p:80 POST / body");
  EXPECT_EQ(w.world.put(proxy + "/x", "body").body, "http p:80 PUT /x body");
  EXPECT_EQ(w.world.remove(proxy + "/x").body, "http p:80 DELETE /x");
  // The Accept header is between the client and the pod.
  EXPECT_EQ(w.world.get(proxy + "/", {{"Accept", "text/html"}}).status, 200);
}

TEST(Proxy, an_empty_path_is_sent_to_one_with_a_slash) {
  ProxyWorld w;
  w.add_pod("p");
  const Answer answer = w.world.get(kPods + "/p:80/proxy?a=b");
  EXPECT_EQ(answer.status, 301);
  EXPECT_EQ(answer.headers.get("Location"), kPods + "/p:80/proxy/?a=b");
  // Two slashes would be another host.
  EXPECT_EQ(w.world.get("//" + kPods + "/p:80/proxy").headers.get("Location"),
            kPods + "/p:80/proxy/");
}

TEST(Proxy, is_served_at_its_own_path_only) {
  ProxyWorld w;
  w.add_pod("p");
  for (const std::string path :
       {"/api/v1/watch/namespaces/default/pods/p/proxy/x", "/api/v1/pods/p/proxy/x",
        "/apis//v1/namespaces/default/pods/p/proxy/x"}) {
    EXPECT_EQ(w.world.get(path).status, 404) << path;
  }
}

TEST(Proxy, credentials_and_fields_of_the_connection_stay_here) {
  ProxyWorld w;
  w.add_pod("p");
  w.world.get(kPods + "/p/proxy/x", {{"Authorization", "Bearer secret"},
                                     {"impersonate-user", "ann"},
                                     {"Impersonate-Group", "g"},
                                     {"Connection", "close, X-Hop"},
                                     {"X-Hop", "1"},
                                     {"TE", "trailers"},
                                     {"X-Forwarded-For", "10.1.1.1"},
                                     {"X-Ray-Authorization", "Bearer ray"},
                                     {"Cookie", "a=b"}});
  const net::Headers& seen = w.pods.headers;
  for (const std::string_view name : {"Authorization", "Impersonate-User", "Impersonate-Group",
                                      "Connection", "X-Hop", "TE", "Upgrade"}) {
    EXPECT_FALSE(seen.has(name)) << name;
  }
  EXPECT_EQ(seen.get("X-Ray-Authorization"), "Bearer ray");
  EXPECT_EQ(seen.get("Cookie"), "a=b");
  EXPECT_EQ(seen.get("X-Forwarded-For"), "10.1.1.1, test");
  EXPECT_EQ(seen.get("X-Forwarded-Uri"), kPods + "/p/proxy/x");
}

TEST(Proxy, locations_of_the_pod_are_those_of_the_proxy) {
  ProxyWorld w;
  w.add_pod("p");
  w.world.patch(kPods + "/p/status", "merge", R"({"status":{"podIP":"10.0.0.1"}})");
  const std::string proxy = kPods + "/p:80/proxy";
  const auto rewritten = [&](std::string location) {
    w.pods.respond = [location]() -> Result<net::Response> {
      net::Response response{.status = 302};
      response.headers.set("Location", location);
      return response;
    };
    const Answer answer = w.world.get(proxy + "/x", {{"Host", "server:6443"}});
    EXPECT_EQ(answer.status, 302);
    return std::string(answer.headers.get("Location").value_or(""));
  };
  EXPECT_EQ(rewritten("/login?next=/"), proxy + "/login?next=/");
  EXPECT_EQ(rewritten("https://server:6443/login"), proxy + "/login");
  EXPECT_EQ(rewritten("http://10.0.0.1/login"), proxy + "/login");
  EXPECT_EQ(rewritten(proxy + "/login"), proxy + "/login");
  EXPECT_EQ(rewritten("login"), "login");
  EXPECT_EQ(rewritten("https://elsewhere/login"), "https://elsewhere/login");
  EXPECT_EQ(rewritten("//elsewhere/login"), "//elsewhere/login");
}

TEST(Proxy, streams_the_answer_and_keeps_its_status) {
  ProxyWorld w;
  w.add_pod("p");
  w.pods.respond = []() -> Result<net::Response> {
    net::Response response{.status = 418};
    response.headers.set("Keep-Alive", "5");
    response.body =
        std::make_unique<net::testing::ListBody>(std::vector<std::string>{"one ", "two"});
    return response;
  };
  const Answer answer = w.world.get(kPods + "/p/proxy/");
  EXPECT_EQ(answer.status, 418);
  EXPECT_EQ(answer.body, "one two");
  EXPECT_FALSE(answer.headers.has("Keep-Alive"));
}

TEST(Proxy, the_verb_that_a_user_needs_follows_the_method) {
  ProxyWorld w;
  w.add_pod("p");
  std::string asked;
  w.world.allow = [&](const User&, const Access& access) {
    asked = access.verb + " " + access.resource + "/" + access.subresource + " " + access.name;
    return false;
  };
  const auto need = [&](const std::string& method) {
    const Answer answer = w.world.request(
        {.method = method, .target = kPods + "/p:80/proxy/x", .headers = {{"X-Test-User", "ann"}}});
    EXPECT_EQ(answer.status, 403) << method;
    return asked;
  };
  EXPECT_EQ(need("GET"), "get pods/proxy p:80");
  EXPECT_EQ(need("HEAD"), "get pods/proxy p:80");
  EXPECT_EQ(need("POST"), "create pods/proxy p:80");
  EXPECT_EQ(need("PUT"), "update pods/proxy p:80");
  EXPECT_EQ(need("PATCH"), "patch pods/proxy p:80");
  EXPECT_EQ(need("DELETE"), "delete pods/proxy p:80");
}

Task<void> shout(net::ByteStream& connection) {
  for (;;) {
    Result<std::string> bytes = co_await connection.read();
    if (!bytes || bytes->empty()) {
      co_return;
    }
    if (!co_await connection.write(*bytes + "!") || *bytes == "bye") {
      co_return;
    }
  }
}

Task<void> greet(net::ByteStream& connection, std::vector<std::string>& heard) {
  for (const std::string word : {"hello", "bye"}) {
    static_cast<void>(co_await connection.write(word));
    heard.push_back((co_await connection.read()).value_or("error"));
  }
  heard.push_back((co_await connection.read()).value_or("error"));
}

Task<Result<void>> upgrade_and_greet(net::HttpService& server, net::Request request,
                                     std::vector<std::string>& heard) {
  CO_TRY_ASSIGN(net::Response response, co_await server.send(std::move(request)));
  EXPECT_EQ(response.status, 101);
  EXPECT_EQ(response.headers.get("Upgrade"), "websocket");
  net::Takeover talk = [&heard](net::ByteStream& connection) { return greet(connection, heard); };
  co_return co_await net::converse(std::move(response), std::move(talk));
}

TEST(Proxy, carries_connections_that_leave_http_behind) {
  ProxyWorld w;
  w.add_pod("p");
  w.pods.respond = []() -> Result<net::Response> {
    net::Response response{.status = 101};
    response.headers = {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}};
    response.body = std::make_unique<net::Upgrade>(shout);
    return response;
  };
  // An empty path is not sent elsewhere then.
  net::Request request{
      .target = kPods + "/p:80/proxy",
      .headers = {{"Upgrade", "websocket"}, {"Connection", "keep-alive, Upgrade"}}};
  std::vector<std::string> heard;
  const Result<void> talked =
      w.world.run(upgrade_and_greet(w.world.service(), std::move(request), heard));
  ASSERT_TRUE(talked) << talked.error().to_string();
  EXPECT_EQ(heard, (std::vector<std::string>{"hello!", "bye!", ""}));
  EXPECT_EQ(w.pods.headers.get("Upgrade"), "websocket");
  EXPECT_EQ(w.world.get(kPods + "/p:80/proxy/").status, 503);  // an upgrade nobody asked for
}

}  // namespace
}  // namespace codeflare::apiserver
