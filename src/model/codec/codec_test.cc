#include "model/codec/codec.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/codec/core.h"
#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare::model {
namespace {

json::Document parse(std::string_view text) {
  Result<json::Document> document = json::parse(text);
  EXPECT_TRUE(document.has_value()) << text;
  return document ? *std::move(document) : json::Document();
}

template <typename T>
T read(std::string_view text) {
  Result<T> object = from_json<T>(parse(text).root);
  EXPECT_TRUE(object.has_value()) << object.error().message;
  return object.value_or(T());
}

template <typename T>
std::string complaint(std::string_view text) {
  Result<T> object = from_json<T>(parse(text).root);
  if (object) {
    return "accepted";
  }
  EXPECT_EQ(object.error().code, ErrorCode::invalid_argument);
  return object.error().message;
}

TEST(Codec, a_wrong_type_is_told_with_its_path) {
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":1},
                              {"containerPort":"http"}]}]}})"),
            "spec.containers[0].ports[1].containerPort: expected a number, got a string");
  EXPECT_EQ(complaint<Pod>("[]"), "expected an object, got an array");
  EXPECT_EQ(complaint<Pod>(R"({"metadata":{"labels":{"a/b":1}}})"),
            "metadata.labels[a/b]: expected a string, got a number");
  EXPECT_EQ(complaint<Pod>(R"({"metadata":{"labels":{"a":null}}})"),
            "metadata.labels[a]: expected a string, got null");
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"hostNetwork":"true"}})"),
            "spec.hostNetwork: expected a boolean, got a string");
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"containers":{}}})"),
            "spec.containers: expected an array, got an object");
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"overhead":{"cpu":"1x"}}})"),
            "spec.overhead[cpu]: invalid quantity \"1x\": unable to parse quantity's suffix");
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"priority":3000000000}})"),
            "spec.priority: expected a whole number of 32 bits");
  EXPECT_EQ(complaint<Pod>(R"({"spec":{"activeDeadlineSeconds":1.5}})"),
            "spec.activeDeadlineSeconds: expected a whole number of 64 bits");
  EXPECT_EQ(complaint<Pod>(R"({"metadata":{"creationTimestamp":"yesterday"}})"),
            "metadata.creationTimestamp: expected a time such as 2006-01-02T15:04:05Z");
  EXPECT_EQ(complaint<Service>(R"({"spec":{"ports":[{"targetPort":true}]}})"),
            "spec.ports[0].targetPort: expected a number or a string, got a boolean");
}

TEST(Codec, no_value_of_a_secret_gets_into_a_message) {
  for (const char* text :
       {R"({"data":{"password":"hunter2!"}})", R"({"data":{"password":{"hunter2":1}}})",
        R"({"data":"hunter2"})", R"({"stringData":{"password":["hunter2"]}})"}) {
    const std::string message = complaint<Secret>(text);
    EXPECT_EQ(message.find("hunter"), std::string::npos) << message;
  }
  EXPECT_EQ(complaint<Secret>(R"({"data":{"password":"hunter2!"}})"),
            "data[password]: expected base64");
}

TEST(Codec, another_kind_is_refused_and_none_is_accepted) {
  EXPECT_EQ(complaint<Pod>(R"({"kind":"Node"})"), "kind: expected Pod, got Node");
  EXPECT_EQ(complaint<Pod>(R"({"kind":"Pod","apiVersion":"v2"})"),
            "apiVersion: expected v1, got v2");
  EXPECT_EQ(complaint<Pod>(R"({"kind":7})"), "kind: expected a string, got a number");
  EXPECT_EQ(complaint<Pod>("{}"), "accepted");
}

TEST(Codec, kind_and_version_are_written_at_the_top_only) {
  EXPECT_EQ(to_json_text(Namespace{}), R"({"apiVersion":"v1","kind":"Namespace"})");
  EXPECT_EQ(to_json_text(Lease{}), R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease"})");
  EXPECT_EQ(to_json_text(OwnerReference{.kind = "Job", .name = "j"}),
            R"({"apiVersion":"","kind":"Job","name":"j","uid":""})");
}

TEST(Codec, empty_members_are_left_out_unless_readers_count_on_them) {
  Pod pod;
  pod.metadata.name = "a";
  pod.status.container_statuses.push_back({.name = "c"});
  EXPECT_EQ(to_json_text(pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{)"
            R"("containerStatuses":[{"name":"c","ready":false,"restartCount":0,"image":"",)"
            R"("imageID":""}]}})");
  pod.spec.containers.push_back({.name = "c"});
  pod.spec.priority = 0;
  EXPECT_NE(to_json_text(pod).find(R"("spec":{"containers":[{"name":"c"}],"priority":0})"),
            std::string::npos);
}

TEST(Codec, members_that_say_nothing_come_back_as_they_were) {
  const std::string_view text =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{},)"
      R"("creationTimestamp":null},"spec":{"containers":[{"name":"c","resources":{},"tty":false,)"
      R"("command":[],"env":[{"name":"A","value":""}]}],"securityContext":{}},"status":{}})";
  const json::Document in = parse(text);
  Result<Pod> pod = from_json<Pod>(in.root);
  ASSERT_TRUE(pod.has_value());
  json::Arena arena;
  EXPECT_TRUE(json::equal(to_json(arena, *pod), in.root)) << to_json_text(*pod);
  EXPECT_FALSE(pod->metadata.creation_timestamp.has_value());
}

TEST(Codec, a_field_that_is_set_replaces_what_was_kept_for_it) {
  Pod pod = read<Pod>(R"({"metadata":{"labels":{},"creationTimestamp":null},"status":{}})");
  pod.metadata.labels = {{"a", "1"}};
  pod.metadata.creation_timestamp = Time(std::chrono::seconds(1));
  pod.status.phase = "Running";
  EXPECT_EQ(to_json_text(pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"creationTimestamp":)"
            R"("1970-01-01T00:00:01Z","labels":{"a":"1"}},"status":{"phase":"Running"}})");
}

TEST(Codec, unknown_members_are_kept_with_the_text_of_their_numbers) {
  const Pod pod = read<Pod>(R"({"future":{"x":[1.50,-0,1e400]},"spec":{"novelty":true}})");
  EXPECT_EQ(pod.extra.find("future"), R"({"x":[1.50,-0,1e400]})");
  EXPECT_EQ(pod.spec.extra.find("novelty"), "true");
  EXPECT_EQ(to_json_text(pod),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[],"novelty":true},)"
            R"("future":{"x":[1.50,-0,1e400]}})");
}

TEST(Codec, scalars_keep_their_meaning) {
  const Pod pod = read<Pod>(
      R"({"metadata":{"creationTimestamp":"2026-01-02T03:04:05+01:00"},"spec":{"containers":[
          {"name":"c","resources":{"requests":{"cpu":1.5,"memory":" 64Mi "}},
           "livenessProbe":{"httpGet":{"port":"web"}},
           "readinessProbe":{"tcpSocket":{"port":8080}}}]}})");
  const Container& container = pod.spec.containers.at(0);
  EXPECT_EQ(to_rfc3339(pod.metadata.creation_timestamp.value()), "2026-01-02T02:04:05Z");
  EXPECT_EQ(container.resources.requests.get("cpu").milli_value(), 1500);
  EXPECT_EQ(container.resources.requests.get("memory").to_string(), "64Mi");
  EXPECT_EQ(container.liveness_probe->http_get->port, IntOrString::of("web"));
  EXPECT_EQ(container.readiness_probe->tcp_socket->port, IntOrString::of(8080));
}

TEST(Codec, a_secret_holds_decoded_bytes) {
  Secret secret = read<Secret>(R"({"data":{"a":"aGVsbG8=","none":""}})");
  EXPECT_EQ(secret.data.at("a").bytes, "hello");
  secret.data["a"].bytes = std::string("\0\xff", 2);
  EXPECT_EQ(to_json_text(secret),
            R"({"apiVersion":"v1","kind":"Secret","data":{"a":"AP8=","none":""}})");
}

TEST(Codec, a_status_is_read_with_causes) {
  const Status status = read<Status>(
      R"({"kind":"Status","apiVersion":"v1","metadata":{"continue":"c"},"status":"Failure",
          "message":"no","reason":"Invalid","details":{"name":"x","kind":"pods","causes":[
          {"reason":"FieldValueRequired","message":"Required value","field":"spec"}],
          "retryAfterSeconds":3},"code":422})");
  EXPECT_EQ(status.metadata.continue_token, "c");
  EXPECT_EQ(status.details->causes.at(0).field, "spec");
  EXPECT_EQ(status.details->retry_after_seconds, 3);
  EXPECT_EQ(to_error(status).code, ErrorCode::invalid_argument);
}

// A kind of another folder: its own namespace, traits and description.
struct Widget {
  ObjectMeta metadata;
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> counts;
  Extra extra;
};

const codec::StructInfo& describe(codec::Tag<Widget>) {
  static constexpr codec::Field kFields[] = {
      codec::field<&Widget::metadata>("metadata"),
      codec::field<&Widget::rows>("rows"),
      codec::field<&Widget::counts>("counts"),
  };
  static constexpr codec::StructInfo kInfo =
      codec::struct_info<Widget>(kFields, "example.com/v1", "Widget");
  return kInfo;
}

TEST(Codec, containers_nest_in_structs_described_elsewhere) {
  const std::string_view text =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},)"
      R"("rows":[["a"],[]],"counts":{"x":[1,2]}})";
  const Widget widget = read<Widget>(text);
  EXPECT_EQ(widget.rows.size(), 2u);
  EXPECT_EQ(to_json_text(widget), text);
  EXPECT_EQ(complaint<Widget>(R"({"rows":[[],["a",1]]})"),
            "rows[1][1]: expected a string, got a number");
  EXPECT_EQ(complaint<Widget>(R"({"counts":{"x":[1,"2"]}})"),
            "counts[x][1]: expected a number, got a string");
}

}  // namespace
}  // namespace codeflare::model
