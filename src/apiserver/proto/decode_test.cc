#include "apiserver/proto/decode.h"

#include "apiserver/proto/internal/transcoder.h"
#include "apiserver/proto/testing/message_builder.h"
#include "apiserver/schema/builtin.h"
#include "base/base64.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {
namespace {

std::string decoded(std::string_view body) {
  auto result = decode_protobuf(body);
  return result ? json::to_text(result->document.root) : result.error().to_string();
}

std::string decoded(std::string_view api_version, std::string_view kind, const Message& object) {
  return decoded(envelope(api_version, kind, object));
}

// The text of metadata alone.
std::string decoded_meta(const Message& meta) {
  const std::string text = decoded("v1", "ConfigMap", Message().message(1, meta));
  constexpr std::string_view kHead = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":)";
  return text.starts_with(kHead) ? text.substr(kHead.size(), text.size() - kHead.size() - 1) : text;
}

// The text of the only container of a pod whose metadata and status are empty.
std::string decoded_container(const Message& container) {
  const Message pod = Message().message(2, Message().message(2, container));
  const std::string text = decoded("v1", "Pod", pod);
  const std::size_t begin = text.find("[{");
  return begin == text.npos ? text
                            : text.substr(begin + 1, text.rfind('}', text.rfind(']')) - begin);
}

// Bodies that Go's own encoder wrote.
constexpr std::string_view kEmptyPod =
    "azhzAAoJCgJ2MRIDUG9kEkUKEAoAEgAaACIAKgAyADgAQgASHBoAMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAaEwoA"
    "GgAiACoAMgBKAFoAcgCIAQAaACIA";
constexpr std::string_view kDeployment =
    "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50Eu4BCicKA3dlYhIAGgAiACoAMgA4AEIICIDiz6oGEABaCgoDYXBwEgN3"
    "ZWIStAEIABIMCgoKA2FwcBIDd2ViGpkBChAKABIAGgAiACoAMgA4AEIAEoQBCgkKAXYSBBICCgASWwoBYxIFbmdpbngq"
    "ADIKCgAQABhQIgAqAEIPCg0KA2NwdRIGCgQ1MDBtWiAKFBISCgASCggBEAAaBGh0dHAaACIAEAAYACAAKAAwAGoAcgCA"
    "AQCIAQCQAQCiAQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=";

TEST(DecodeProtobuf, an_empty_pod_shows_the_zero_values_that_json_shows) {
  EXPECT_EQ(
      decoded(*from_base64(kEmptyPod)),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":null},"status":{}})");
}

TEST(DecodeProtobuf, absent_and_unset_are_the_same_for_fields_that_are_no_pointers) {
  EXPECT_EQ(decoded("v1", "Pod", Message()), decoded(*from_base64(kEmptyPod)));
}

TEST(DecodeProtobuf, a_deployment_as_kubectl_sends_it) {
  EXPECT_EQ(
      decoded(*from_base64(kDeployment)),
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"creationTimestamp":)"
      R"("2023-11-14T22:13:20Z","labels":{"app":"web"},"name":"web"},"spec":{"replicas":0,)"
      R"("selector":{"matchLabels":{"app":"web"}},"strategy":{},"template":{"metadata":{},)"
      R"("spec":{"containers":[{"image":"nginx","name":"c","ports":[{"containerPort":80}],)"
      R"("readinessProbe":{"httpGet":{"port":"http"}},"resources":{"limits":{"cpu":"500m"}}}],)"
      R"("volumes":[{"emptyDir":{},"name":"v"}]}}},"status":{}})");
}

TEST(DecodeProtobuf, every_prefix_of_a_body_is_refused_or_decoded_without_harm) {
  const std::string body = *from_base64(kDeployment);
  for (std::size_t size = 0; size < body.size(); ++size) {
    auto result = decode_protobuf(std::string_view(body).substr(0, size));
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << size;
    }
  }
}

TEST(DecodeProtobuf, the_envelope_must_be_one) {
  EXPECT_EQ(decoded(""), "invalid_argument: empty data");
  EXPECT_EQ(decoded("{}"),
            "invalid_argument: provided data does not appear to be a protobuf message, expected "
            "prefix [107 56 115 0]");
  EXPECT_EQ(decoded(std::string_view("k8s\0", 4)), "invalid_argument: empty body");
  EXPECT_EQ(decoded(std::string_view("k8s\0\x0a\x05", 6)),
            "invalid_argument: protobuf: envelope: length beyond the end");
  EXPECT_EQ(decoded(std::string_view("k8s\0\x08\x05", 6)),
            "invalid_argument: protobuf: envelope: wrong wire type");
}

TEST(DecodeProtobuf, the_kind_must_be_built_in) {
  EXPECT_EQ(decoded("v1", "Gizmo", Message()),
            R"(invalid_argument: no kind "Gizmo" is registered for version "v1")");
  EXPECT_EQ(decoded("a/b/c", "Pod", Message()),
            R"(invalid_argument: no kind "Pod" is registered for version "a/b/c")");
}

TEST(DecodeProtobuf, what_the_envelope_leaves_open_comes_from_the_endpoint) {
  const std::string body = envelope("", "", Message());
  EXPECT_EQ(decoded(body), "invalid_argument: Object 'Kind' is missing in a protobuf message");
  EXPECT_EQ(decoded("", "Pod", Message()),
            "invalid_argument: Object 'apiVersion' is missing in a protobuf message");
  auto result = decode_protobuf(body, {.api_version = "v1", .kind = "ConfigMap"});
  ASSERT_TRUE(result);
  EXPECT_EQ(json::to_text(result->document.root),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})");
}

TEST(DecodeProtobuf, options_are_known_in_every_group) {
  for (std::string_view version : {"v1", "apps/v1", "example.com/v1alpha1", "meta.k8s.io/v1"}) {
    const std::string text =
        decoded(version, "DeleteOptions", Message().integer(1, 0).integer(3, 0));
    EXPECT_EQ(text,
              R"({"apiVersion":")" + std::string(version) +
                  R"(","kind":"DeleteOptions","gracePeriodSeconds":0,"orphanDependents":false})");
  }
  EXPECT_EQ(decoded("v1", "Status", Message().integer(6, 404)),
            R"({"apiVersion":"v1","kind":"Status","code":404,"metadata":{}})");
}

TEST(DecodeProtobuf, unknown_fields_are_passed_over) {
  Message meta;
  meta.text(1, "n").integer(500, 7).fixed64(501, 1).text(502, "x");
  meta.tag(503, 3).integer(1, 1).tag(504, 3).tag(504, 4).tag(503, 4);  // groups
  meta.tag(505, 5).raw("abcd");
  EXPECT_EQ(decoded_meta(meta), R"({"name":"n"})");
}

TEST(DecodeProtobuf, damaged_groups_are_refused) {
  EXPECT_EQ(decoded_meta(Message().tag(500, 4)),
            "invalid_argument: protobuf: field 500 of io.k8s.apimachinery.pkg.apis.meta.v1."
            "ObjectMeta: end of a group that did not begin");
  EXPECT_EQ(decoded_meta(Message().tag(500, 3).tag(501, 4)),
            "invalid_argument: protobuf: field 500 of io.k8s.apimachinery.pkg.apis.meta.v1."
            "ObjectMeta: end of another group");
  Message nested;
  for (unsigned i = 0; i < 100; ++i) {
    nested.tag(500, 3);
  }
  EXPECT_EQ(decoded_meta(nested),
            "invalid_argument: protobuf: field 500 of io.k8s.apimachinery.pkg.apis.meta.v1."
            "ObjectMeta: groups are nested too deeply");
}

TEST(DecodeProtobuf, errors_name_the_field) {
  EXPECT_EQ(
      decoded_meta(Message().integer(1, 5)),
      "invalid_argument: protobuf: field 1 of io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: "
      "wrong wire type");
  EXPECT_EQ(
      decoded_container(Message().tag(1, 2).varint(1000)),
      "invalid_argument: protobuf: field 1 of io.k8s.api.core.v1.Container: length beyond the "
      "end");
  EXPECT_EQ(decoded_meta(Message().raw(std::string(11, '\xff'))),
            "invalid_argument: protobuf: field 1 of io.k8s.api.core.v1.ConfigMap: integer of more "
            "than 10 bytes");
}

TEST(DecodeProtobuf, a_message_may_come_once_and_a_text_again) {
  EXPECT_EQ(decoded_meta(Message().text(1, "first").text(1, "last")), R"({"name":"last"})");
  EXPECT_EQ(decoded("v1", "Pod", Message().message(2, Message()).message(2, Message())),
            "invalid_argument: protobuf: field 2 of io.k8s.api.core.v1.Pod: it comes twice");
}

TEST(DecodeProtobuf, maps_are_sorted_and_the_last_of_equal_keys_counts) {
  const Message map = Message().entry(2, "b", "1").entry(2, "a", "2").entry(2, "b", "3");
  EXPECT_EQ(decoded("v1", "ConfigMap", Message(map).message(2, Message().text(1, "empty"))),
            R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2","b":"3","empty":""},)"
            R"("metadata":{}})");
}

TEST(DecodeProtobuf, bytes_become_base64) {
  EXPECT_EQ(decoded("v1", "Secret", Message().entry(2, "k", std::string_view("\0\xff", 2))),
            R"({"apiVersion":"v1","kind":"Secret","data":{"k":"AP8="},"metadata":{}})");
}

TEST(DecodeProtobuf, pointers_keep_their_zero) {
  const Message context = Message().integer(2, 0).integer(4, 0);
  EXPECT_EQ(decoded_container(Message().text(1, "c").message(15, context)),
            R"({"name":"c","resources":{},"securityContext":{"privileged":false,"runAsUser":0}})");
}

TEST(DecodeProtobuf, negative_integers_keep_their_sign) {
  EXPECT_EQ(decoded("autoscaling/v1", "Scale",
                    Message().message(2, Message().integer(1, static_cast<std::uint64_t>(-5)))),
            R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{},"spec":{"replicas":-5},)"
            R"("status":{"replicas":0}})");
}

TEST(DecodeProtobuf, packed_integers_are_accepted) {
  const Message groups = Message().integer(4, 1).message(4, Message().varint(2).varint(300));
  const std::string text =
      decoded("v1", "Pod", Message().message(2, Message().message(14, groups)));
  EXPECT_NE(text.find(R"("supplementalGroups":[1,2,300])"), text.npos) << text;
  const Message damaged = Message().message(4, Message().raw("\x80"));
  EXPECT_EQ(decoded("v1", "Pod", Message().message(2, Message().message(14, damaged))),
            "invalid_argument: protobuf: field 4 of io.k8s.api.core.v1.PodSecurityContext: "
            "unexpected end");
}

TEST(DecodeProtobuf, times_have_seconds_and_micro_times_six_digits) {
  EXPECT_EQ(decoded_meta(Message().message(8, Message().integer(1, 1).integer(2, 999))),
            R"({"creationTimestamp":"1970-01-01T00:00:01Z"})");
  EXPECT_EQ(decoded_meta(Message().message(8, Message())), "{}");
  // A pointer to the zero time is there, and null.
  EXPECT_EQ(decoded_meta(Message().message(9, Message())), R"({"deletionTimestamp":null})");
  EXPECT_EQ(
      decoded_meta(Message().message(8, Message().integer(1, 253'402'300'800))),
      "invalid_argument: protobuf: field 8 of io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: "
      "a time outside of the years 0 to 9999");
  const Message renew = Message().integer(1, 1'700'000'000).integer(2, 1'234'567);
  EXPECT_EQ(
      decoded("coordination.k8s.io/v1", "Lease", Message().message(2, Message().message(4, renew))),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{},)"
      R"("spec":{"renewTime":"2023-11-14T22:13:20.001234Z"}})");
}

TEST(DecodeProtobuf, int_or_string_is_either) {
  auto port = [](const Message& value) {
    return decoded_container(Message().message(
        10, Message().message(1, Message().message(2, Message().message(2, value)))));
  };
  EXPECT_NE(port(Message().integer(1, 0).integer(2, 80)).find(R"("port":80)"), std::string::npos);
  EXPECT_NE(port(Message().integer(1, 1).text(3, "http")).find(R"("port":"http")"),
            std::string::npos);
  EXPECT_EQ(port(Message().integer(1, 2)),
            "invalid_argument: protobuf: field 2 of io.k8s.api.core.v1.HTTPGetAction: neither an "
            "integer nor a string");
}

TEST(DecodeProtobuf, embedded_json_is_taken_as_it_is) {
  auto revision = [](std::string_view json) {
    return decoded("apps/v1", "ControllerRevision",
                   Message().message(2, Message().text(1, json)).integer(3, 1));
  };
  EXPECT_EQ(revision(R"({"b":1.50,"a":[null]})"),
            R"({"apiVersion":"apps/v1","kind":"ControllerRevision","data":{"b":1.50,"a":[null]},)"
            R"("metadata":{},"revision":1})");
  EXPECT_EQ(revision(""),
            R"({"apiVersion":"apps/v1","kind":"ControllerRevision","data":null,"metadata":{},)"
            R"("revision":1})");
  EXPECT_TRUE(
      revision("{").starts_with("invalid_argument: protobuf: field 2 of "
                                "io.k8s.api.apps.v1.ControllerRevision: embedded JSON: "));
  EXPECT_FALSE(decode_protobuf(envelope(
      "apps/v1", "ControllerRevision",
      Message().message(2, Message().text(1, std::string(300, '[') + std::string(300, ']'))))));
}

TEST(DecodeProtobuf, inlined_messages_merge_into_their_parent) {
  // NamedRuleWithOperations holds RuleWithOperations, which holds Rule.
  const Message rule = Message().text(1, "apps");
  const Message with_operations = Message().text(1, "CREATE").message(2, rule);
  const Message named = Message().text(1, "web").message(2, with_operations);
  const std::string text =
      decoded("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
              Message().message(2, Message().message(2, Message().message(3, named))));
  EXPECT_NE(text.find(R"("resourceRules":[{"apiGroups":["apps"],"operations":["CREATE"],)"
                      R"("resourceNames":["web"]}])"),
            text.npos)
      << text;
  const Message twice = Message().message(2, with_operations).message(2, with_operations);
  EXPECT_TRUE(decoded("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
                      Message().message(2, Message().message(2, Message().message(3, twice))))
                  .ends_with("it comes twice"));
}

TEST(DecodeProtobuf, lists_that_are_messages_become_plain_lists) {
  const Message groups = Message().text(1, "a").text(1, "b");
  const Message extra = Message()
                            .message(4, Message().text(1, "g").message(2, groups))
                            .message(4, Message().text(1, "n"));
  const std::string text = decoded("authentication.k8s.io/v1", "TokenReview",
                                   Message().message(3, Message().message(2, extra)));
  EXPECT_NE(text.find(R"("extra":{"g":["a","b"],"n":[]})"), text.npos) << text;
}

// A CustomResourceDefinition with one version and this schema.
std::string decoded_schema(const Message& props) {
  const Message version = Message().text(1, "v1").message(4, Message().message(1, props));
  const std::string text = decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                   Message().message(2, Message().message(7, version)));
  constexpr std::string_view kBefore = R"("openAPIV3Schema":)";
  const std::size_t begin = text.find(kBefore);
  const std::size_t end = text.find(R"(},"served")");
  return begin == text.npos ? text
                            : text.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

TEST(DecodeProtobuf, schemas_of_custom_resources_have_their_json_names) {
  const Message text = Message().text(5, "string");
  EXPECT_EQ(decoded_schema(Message().text(2, "s").text(3, "r").integer(39, 1)),
            R"({"$ref":"r","$schema":"s","x-kubernetes-embedded-resource":true})");
  // A schema, several, or a boolean, or names.
  EXPECT_EQ(decoded_schema(Message().message(24, Message().message(1, text))),
            R"({"items":{"type":"string"}})");
  EXPECT_EQ(decoded_schema(Message().message(24, Message().message(2, text).message(2, text))),
            R"({"items":[{"type":"string"},{"type":"string"}]})");
  EXPECT_EQ(decoded_schema(Message().message(30, Message().integer(1, 1))),
            R"({"additionalProperties":true})");
  EXPECT_EQ(decoded_schema(Message().message(30, Message().integer(1, 0))),
            R"({"additionalProperties":false})");
  EXPECT_EQ(decoded_schema(Message().message(30, Message().integer(1, 1).message(2, text))),
            R"({"additionalProperties":{"type":"string"}})");
  EXPECT_EQ(decoded_schema(Message().message(
                32, Message().text(1, "k").message(2, Message().text(2, "a").text(2, "b")))),
            R"({"dependencies":{"k":["a","b"]}})");
  EXPECT_EQ(decoded_schema(Message().message(20, Message().text(1, "[1]"))), R"({"enum":[[1]]})");
  EXPECT_EQ(decoded_schema(Message().fixed64(9, std::bit_cast<std::uint64_t>(2.5))),
            R"({"maximum":2.5})");
  EXPECT_EQ(decoded_schema(Message().fixed64(
                9, std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()))),
            "invalid_argument: protobuf: field 9 of io.k8s.apiextensions-apiserver.pkg.apis."
            "apiextensions.v1.JSONSchemaProps: a number that JSON can't hold");
}

TEST(DecodeProtobuf, nesting_has_a_limit) {
  auto nested = [](int levels) {
    Message props;
    for (int i = 0; i < levels; ++i) {
      props = Message().message(28, props);  // not
    }
    return decoded_schema(props);
  };
  EXPECT_TRUE(nested(90).starts_with(R"({"not":{"not":)"));
  EXPECT_TRUE(nested(200).ends_with("nested more than 100 levels deep")) << nested(200);
  EXPECT_TRUE(nested(200).starts_with("too_large: "));
}

TEST(DecodeProtobuf, a_small_body_can_not_become_a_huge_tree) {
  std::string containers(3'000'000, '\0');
  for (std::size_t i = 0; i < containers.size(); i += 2) {
    containers[i] = '\x12';  // field 2, of length 0
  }
  const Message spec = Message().raw(containers);
  const std::string text = decoded("v1", "Pod", Message().message(2, spec));
  EXPECT_TRUE(text.starts_with("too_large: ")) << text.substr(0, 100);
}

TEST(DecodeProtobuf, slots_suffice_for_every_structure) {
  std::vector<const schema::Node*> todo;
  for (const schema::BuiltinKind& kind : schema::builtin_kinds()) {
    todo.push_back(kind.schema);
  }
  std::set<const schema::Node*> seen;
  while (!todo.empty()) {
    const schema::Node* node = todo.back();
    todo.pop_back();
    if (node == nullptr || !seen.insert(node).second) {
      continue;
    }
    EXPECT_LE(node->fields.size(), internal::kFieldsMax) << node->type_name;
    EXPECT_LE(node->inlined.size(), 64U) << node->type_name;
    todo.push_back(node->items);
    for (const schema::Field& field : node->fields) {
      todo.push_back(field.node);
    }
  }
  EXPECT_GT(seen.size(), 500U);
}

}  // namespace
}  // namespace codeflare::apiserver
