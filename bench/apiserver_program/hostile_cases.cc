#include "bench/apiserver_program/hostile_cases.h"

#include "bench/apiserver_program/hostile_spots.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace codeflare::bench {

namespace {

constexpr std::string_view kMerge = "application/merge-patch+json";
constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";
constexpr std::string_view kApply = "application/apply-patch+yaml";
constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kYaml = "application/yaml";

enum class Filling : std::uint8_t { equal, distinct, null, wrong, long_key };
constexpr std::array kFillings = {Filling::equal, Filling::distinct, Filling::null, Filling::wrong,
                                  Filling::long_key};
constexpr std::array<std::string_view, 5> kFillingNames = {"equal", "distinct", "null", "wrong",
                                                           "long key"};

enum class Verb : std::uint8_t {
  create,
  create_yaml,
  update,
  merge,
  strategic,
  apply,
  apply_again,
  apply_other
};
constexpr std::array kVerbs = {Verb::create,      Verb::create_yaml, Verb::update,
                               Verb::merge,       Verb::strategic,   Verb::apply,
                               Verb::apply_again, Verb::apply_other};
constexpr std::array<std::string_view, 8> kVerbNames = {
    "create", "create yaml", "update", "merge", "strategic", "apply", "apply again", "apply other"};

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(what)) {
      out += with;
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool is_member(std::string_view item) {
  return item.starts_with('"') && item.contains("\":");
}

std::string filled_item(const HostileSpot& spot, Filling filling, std::size_t number) {
  const bool member = is_member(spot.item);
  const std::string_view key =
      member ? spot.item.substr(0, spot.item.find("\":") + 1) : std::string_view();
  const std::string digits = std::to_string(filling == Filling::equal ? 1 : number);
  std::string item(spot.item);
  if (filling == Filling::null) {
    item = member ? std::string(key) + ":null" : "null";
  } else if (filling == Filling::wrong) {
    item = member ? std::string(key) + R"(:{"a":[true]})" : R"({"odd":[true]})";
  }
  return replaced(item, "#", digits);
}

// `other`: the same items with other numbers.
std::string filled(const HostileSpot& spot, Filling filling, std::size_t bytes, bool other) {
  std::string items;
  const std::size_t first = other ? 50'000'000 : 0;
  if (filling == Filling::long_key) {
    // Half of the room is one long name.
    std::string item = filled_item(spot, filling, 0);
    const std::size_t at = item.find('0');
    if (at != std::string::npos) {
      item.replace(at, 1, std::string(bytes / 2, other ? 'y' : 'x'));
    }
    items = item;
  }
  for (std::size_t number = first; items.size() < bytes; ++number) {
    items += items.empty() ? "" : ",";
    items += filled_item(spot, filling, number);
  }
  return items;
}

std::string body_of(const HostileSpot& spot, std::string_view name, std::string_view items) {
  std::string frame = replaced(spot.frame, "META", "\"name\":\"" + std::string(name) + "\"");
  frame = replaced(frame, "NAME", name);
  return "{\"apiVersion\":\"" + std::string(spot.api_version) + "\",\"kind\":\"" +
         std::string(spot.kind) + "\"," + replaced(frame, "@", items) + "}";
}

HostileCase at_spot(const HostileSpot& spot, Filling filling, Verb verb, std::size_t bytes) {
  const std::string name = "hostile";
  const std::string object = std::string(spot.collection) + "/" + name +
                             (spot.collection == kDefinitions ? ".made.dev" : "");
  bytes /= static_cast<std::size_t>(std::ranges::count(spot.frame, '@'));
  const std::string body = body_of(spot, name, filled(spot, filling, bytes, false));
  const std::string other = body_of(spot, name, filled(spot, filling, bytes, true));
  const std::string collection(spot.collection);
  auto patch = [&](std::string_view type, const std::string& text, std::string_view query = "") {
    return HostileCall{.method = "PATCH",
                       .target = object + std::string(query),
                       .body = text,
                       .type = std::string(type)};
  };
  const HostileCall create{.method = "POST", .target = collection, .body = body};
  HostileCase made{.name = {}, .call = create};
  switch (verb) {
    case Verb::create:
      break;
    case Verb::create_yaml:
      made.call.type = kYaml;
      break;
    case Verb::update:
      made.before = {create};
      made.call = {.method = "PUT", .target = object, .body = other};
      break;
    case Verb::merge:
      made.before = {create};
      made.call = patch(kMerge, other);
      break;
    case Verb::strategic:
      made.before = {create};
      made.call = patch(kStrategic, other);
      break;
    case Verb::apply:
      made.call = patch(kApply, body, "?fieldManager=one");
      break;
    case Verb::apply_again:
      made.before = {patch(kApply, body, "?fieldManager=one")};
      made.call = patch(kApply, other, "?fieldManager=one&force=true");
      break;
    case Verb::apply_other:
      made.before = {patch(kApply, body, "?fieldManager=one")};
      made.call = patch(kApply, other, "?fieldManager=two");
      break;
  }
  made.after = {patch(kMerge, R"({"metadata":{"finalizers":null}})"),
                {.method = "DELETE", .target = object + "?gracePeriodSeconds=0"}};
  return made;
}

// Cases that fit no spot: a name and what makes the case of so many bytes.
struct Special {
  std::string_view name;
  HostileCase (*make)(std::size_t bytes);
};

std::string repeated(std::size_t bytes, std::string_view item, std::string_view between = ",") {
  std::string out;
  for (std::size_t number = 0; out.size() < bytes; ++number) {
    out += out.empty() ? "" : between;
    out += replaced(item, "#", std::to_string(number));
  }
  return out;
}

std::string nested(std::size_t bytes, std::string_view open, std::string_view close,
                   std::size_t depth_max) {
  const std::size_t depth = std::min(depth_max, bytes / (open.size() + close.size()));
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) {
    out += open;
  }
  out += "1";
  for (std::size_t i = 0; i < depth; ++i) {
    out += close;
  }
  return out;
}

const std::string kMap = std::string(kMaps) + "/hostile";
const HostileCall kSmallMap{.method = "POST",
                            .target = std::string(kMaps),
                            .body = R"({"metadata":{"name":"hostile"},"data":{"a":"b"}})"};
const HostileCall kNoMap{.method = "DELETE", .target = kMap};

HostileCall big_map(std::size_t bytes) {
  return {
      .method = "POST",
      .target = std::string(kMaps),
      .body = R"({"metadata":{"name":"hostile"},"data":{)" + repeated(bytes, R"("k#":"v")") + "}}"};
}

HostileCase json_patch(HostileCall before, std::string operations) {
  return {.name = {},
          .before = {std::move(before)},
          .call = {.method = "PATCH",
                   .target = kMap,
                   .body = "[" + std::move(operations) + "]",
                   .type = std::string(kJsonPatch)},
          .after = {kNoMap}};
}

HostileCase strategic_pod(const std::string& spec) {
  const std::string pod = std::string(kPods) + "/hostile";
  return {.name = {},
          .before = {{.method = "POST",
                      .target = std::string(kPods),
                      .body = R"({"metadata":{"name":"hostile"},"spec":{"containers":)"
                              R"([{"name":"c","image":"i"}]}})"}},
          .call = {.method = "PATCH",
                   .target = pod,
                   .body = R"({"spec":{)" + spec + "}}",
                   .type = std::string(kStrategic)},
          .after = {{.method = "DELETE", .target = pod + "?gracePeriodSeconds=0"}}};
}

// A body in the open part of a custom resource.
HostileCase open_thing(const std::string& members) {
  return {.name = {},
          .call = {.method = "POST",
                   .target = std::string(kThings),
                   .body = R"({"metadata":{"name":"hostile"},"spec":{"open":{)" + members + "}}}"},
          .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
}

HostileCase posted_map(std::string body, std::string_view type = "application/json") {
  return {.name = {},
          .call = {.method = "POST",
                   .target = std::string(kMaps),
                   .body = std::move(body),
                   .type = std::string(type)},
          .after = {kNoMap}};
}

HostileCase deleted_map(std::string options) {
  return {.name = {},
          .before = {kSmallMap},
          .call = {.method = "DELETE", .target = kMap, .body = std::move(options)},
          .after = {kNoMap}};
}

HostileCase listed_maps(HostileCall before, std::string query, std::string accept = {}) {
  return {.name = {},
          .before = {std::move(before)},
          .call = {.method = "GET",
                   .target = std::string(kMaps) + std::move(query),
                   .accept = std::move(accept)},
          .after = {kNoMap}};
}

HostileCase after_definition(std::size_t bytes, std::string document) {
  HostileCase made =
      at_spot(hostile_spot("definition properties"), Filling::distinct, Verb::create, bytes);
  made.before = {made.call};
  made.call = {.method = "GET", .target = std::move(document)};
  return made;
}

// A large object that a finalizer keeps on its way out, and one with many references to it.
HostileCase references_to_a_going_owner(std::size_t bytes, std::string_view reference) {
  const std::string owner = std::string(kMaps) + "/owner";
  return {.name = {},
          .before = {{.method = "POST",
                      .target = std::string(kMaps),
                      .body = R"({"metadata":{"name":"owner","finalizers":["a.b/f"]},"data":{)" +
                              repeated(bytes, R"("k#":"v")") + "}}"},
                     {.method = "DELETE", .target = owner}},
          .call = {.method = "POST",
                   .target = std::string(kMaps),
                   .body = R"({"metadata":{"name":"hostile","ownerReferences":[)" +
                           repeated(bytes, replaced(reference, "UID", kUidPlace)) + "]}}",
                   .uid_of = owner},
          .after = {kNoMap,
                    {.method = "PATCH",
                     .target = owner,
                     .body = R"({"metadata":{"finalizers":null}})",
                     .type = std::string(kMerge)}}};
}

HostileCase review(std::string_view resource, std::string body) {
  return {.name = {},
          .call = {.method = "POST",
                   .target = "/apis/authorization.k8s.io/v1/" + std::string(resource),
                   .body = std::move(body)}};
}

constexpr std::array kSpecials = {
    Special{"json patch, adds",
            [](std::size_t bytes) {
              return json_patch(kSmallMap,
                                repeated(bytes, R"({"op":"add","path":"/data/k#","value":"v"})"));
            }},
    Special{"json patch, adds to a large object",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"add","path":"/data/n#","value":"v"})"));
            }},
    Special{"json patch, tests of a large object",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"test","path":"/data/k#","value":"v"})"));
            }},
    Special{"json patch, inserts at the front",
            [](std::size_t bytes) {
              return json_patch(
                  kSmallMap,
                  R"({"op":"add","path":"/metadata/finalizers","value":[]},)" +
                      repeated(bytes,
                               R"({"op":"add","path":"/metadata/finalizers/0","value":"a/f#"})"));
            }},
    Special{"json patch, copies",
            [](std::size_t bytes) {
              return json_patch(
                  big_map(bytes / 2),
                  repeated(bytes / 2, R"({"op":"copy","from":"/data","path":"/data/c#"})"));
            }},
    Special{"json patch, moves",
            [](std::size_t bytes) {
              return json_patch(
                  big_map(bytes / 2),
                  repeated(bytes / 2, R"({"op":"move","from":"/data/k#","path":"/data/m#"})"));
            }},
    Special{"json patch, removes",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"remove","path":"/data/k#"})"));
            }},
    Special{"json patch, long path",
            [](std::size_t bytes) {
              return json_patch(kSmallMap, R"({"op":"add","path":")" + repeated(bytes, "/#", "") +
                                               R"(","value":1})");
            }},
    Special{"merge patch, removes",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {big_map(bytes)},
                  .call = {.method = "PATCH",
                           .target = kMap,
                           .body = R"({"data":{)" + repeated(bytes, R"("k#":null)") + "}}",
                           .type = std::string(kMerge)},
                  .after = {kNoMap}};
            }},
    Special{"strategic, one container many times",
            [](std::size_t bytes) {
              return strategic_pod(R"("containers":[)" +
                                   repeated(bytes, R"({"name":"c","env":[{"name":"E#"}]})") + "]");
            }},
    Special{"strategic, order directives",
            [](std::size_t bytes) {
              return strategic_pod(R"("$setElementOrder/tolerations":[],"tolerations":[)" +
                                   repeated(bytes / 2, R"({"key":"k#"})") +
                                   R"(],"$setElementOrder/containers":[)" +
                                   repeated(bytes / 2, R"({"name":"c#"})") + "]");
            }},
    Special{
        "deep lists",
        [](std::size_t bytes) { return open_thing(R"("a":)" + nested(bytes, "[", "]", 100'000)); }},
    Special{"deep objects",
            [](std::size_t bytes) {
              return open_thing(R"("a":)" + nested(bytes, R"({"k":)", "}", 200) + R"(,"w":[)" +
                                repeated(bytes, nested(1000, R"({"k":)", "}", 60)) + "]");
            }},
    Special{"deep apply",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "PATCH",
                           .target = std::string(kThings) + "/hostile?fieldManager=one",
                           .body = R"({"apiVersion":"hostile.dev/v1","kind":"Thing","metadata":)"
                                   R"({"name":"hostile"},"spec":{"open":{)" +
                                   repeated(bytes, R"("n#":)" + nested(600, R"({"k":)", "}", 60)) +
                                   "}}}",
                           .type = std::string(kApply)},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"long number",
            [](std::size_t bytes) { return open_thing(R"("a":1)" + std::string(bytes, '7')); }},
    Special{"escapes",
            [](std::size_t bytes) {
              return posted_map(R"({"metadata":{"name":"hostile"},"data":{"a":")" +
                                repeated(bytes, R"(\u00e9\n)", "") + R"("}})");
            }},
    Special{"broken text",
            [](std::size_t bytes) {
              return posted_map(R"({"metadata":{"name":"hostile"},"data":{"a":")" +
                                std::string(bytes, '\xff') + R"("}})");
            }},
    Special{"yaml anchors",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kThings),
                           .body = "metadata: {name: hostile}\nspec:\n  open:\n    a: &a [x,x,x]\n"
                                   "    b: [" +
                                   repeated(bytes, "*a") + "]\n",
                           .type = std::string(kYaml)},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"yaml block lines",
            [](std::size_t bytes) {
              return posted_map(
                  "metadata: {name: hostile}\ndata:\n" + repeated(bytes, "  k#: |\n    text\n", ""),
                  kYaml);
            }},
    Special{"delete options",
            [](std::size_t bytes) {
              return deleted_map(R"({"kind":"DeleteOptions","apiVersion":"v1","dryRun":[)" +
                                 repeated(bytes, R"("All#")") + "]}");
            }},
    Special{"delete options, unknown",
            [](std::size_t bytes) {
              return deleted_map(R"({"kind":"DeleteOptions","apiVersion":"v1",)" +
                                 repeated(bytes, R"("u#":1)") + "}");
            }},
    Special{"deletion with many finalizers",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = std::string(kMaps),
                              .body = R"({"metadata":{"name":"hostile","finalizers":[)" +
                                      repeated(bytes, R"("a.b/f#")") + "]}}"}},
                  .call = {.method = "DELETE",
                           .target = kMap,
                           .body = R"({"propagationPolicy":"Foreground"})"},
                  .after = {{.method = "PATCH",
                             .target = kMap,
                             .body = R"({"metadata":{"finalizers":null}})",
                             .type = std::string(kMerge)}}};
            }},
    Special{"owners, equal references to a large one that goes",
            [](std::size_t bytes) {
              return references_to_a_going_owner(
                  bytes, R"({"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"UID"})");
            }},
    Special{"owners, distinct references to a large one that goes",
            [](std::size_t bytes) {
              return references_to_a_going_owner(
                  bytes, R"({"apiVersion":"v1","kind":"ConfigMap","name":"o#","uid":"UID"},)"
                         R"({"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"UID"})");
            }},
    Special{"list with a long selector",
            [](std::size_t bytes) {
              return listed_maps(
                  big_map(100'000),
                  "?labelSelector=" + repeated(std::min<std::size_t>(bytes, 60'000), "k#%3Dv"));
            }},
    Special{"list with a long set selector",
            [](std::size_t bytes) {
              return listed_maps(kSmallMap,
                                 "?labelSelector=a%20notin%20(" +
                                     repeated(std::min<std::size_t>(bytes, 60'000), "k#") + ")");
            }},
    Special{"table of a large object",
            [](std::size_t bytes) {
              return listed_maps(big_map(bytes), "?includeObject=Object",
                                 "application/json;as=Table;v=v1;g=meta.k8s.io");
            }},
    Special{"pretty large object",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .before = {big_map(bytes)},
                                 .call = {.method = "GET", .target = kMap + "?pretty=true"},
                                 .after = {kNoMap}};
            }},
    Special{
        "openapi v3 after a large definition",
        [](std::size_t bytes) { return after_definition(bytes, "/openapi/v3/apis/made.dev/v1"); }},
    Special{"openapi v2 after a large definition",
            [](std::size_t bytes) { return after_definition(bytes, "/openapi/v2"); }},
    Special{"discovery",
            [](std::size_t) {
              return HostileCase{.name = {}, .call = {.method = "GET", .target = "/apis"}};
            }},
    Special{"access review with many groups",
            [](std::size_t bytes) {
              return review("subjectaccessreviews",
                            R"({"spec":{"user":"u","groups":[)" + repeated(bytes, R"("g#")") +
                                R"(],"resourceAttributes":{"verb":"get","resource":"pods"}}})");
            }},
    Special{"access review with many extras",
            [](std::size_t bytes) {
              return review("subjectaccessreviews",
                            R"({"spec":{"user":"u","extra":{)" + repeated(bytes, R"("e#":["a"])") +
                                R"(},"resourceAttributes":{"verb":"get","resource":"pods"}}})");
            }},
    Special{"rules review",
            [](std::size_t) {
              return review("selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})");
            }},
    Special{"token with many audiences",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {
                      .method = "POST",
                      .target = "/api/v1/namespaces/default/serviceaccounts/default/token",
                      .body = R"({"spec":{"audiences":[)" + repeated(bytes, R"("a#")") + "]}}"}};
            }},
    Special{"status of a node",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = "/api/v1/nodes",
                              .body = R"({"metadata":{"name":"hostile"}})"}},
                  .call = {.method = "PATCH",
                           .target = "/api/v1/nodes/hostile/status",
                           .body = R"({"status":{"conditions":[)" +
                                   repeated(bytes, R"({"type":"T#","status":"True"})") + "]}}",
                           .type = std::string(kStrategic)},
                  .after = {{.method = "DELETE", .target = "/api/v1/nodes/hostile"}}};
            }},
};

constexpr std::size_t kPerSpot = kFillings.size() * kVerbs.size();

}  // namespace

std::size_t HostileCases::count() const {
  return hostile_spots().size() * kPerSpot + kSpecials.size();
}

std::string HostileCases::name(std::size_t index) const {
  if (index >= hostile_spots().size() * kPerSpot) {
    return std::string(kSpecials[index - hostile_spots().size() * kPerSpot].name);
  }
  const std::size_t filling = index % kPerSpot / kVerbs.size();
  return std::string(hostile_spots()[index / kPerSpot].name) + ", " +
         std::string(kFillingNames[filling]) + ", " +
         std::string(kVerbNames[index % kVerbs.size()]);
}

HostileCase HostileCases::make(std::size_t index, std::size_t bytes) const {
  const std::size_t spots = hostile_spots().size() * kPerSpot;
  HostileCase made = index >= spots ? kSpecials[index - spots].make(bytes)
                                    : at_spot(hostile_spots()[index / kPerSpot],
                                              kFillings[index % kPerSpot / kVerbs.size()],
                                              kVerbs[index % kVerbs.size()], bytes);
  made.name = name(index);
  return made;
}

std::vector<HostileCall> hostile_setup() {
  return {{.method = "POST",
           .target = std::string(kDefinitions),
           .body = std::string(hostile_definition())},
          {.method = "POST",
           .target = "/api/v1/namespaces",
           .body = R"({"metadata":{"name":"other"}})"}};
}

}  // namespace codeflare::bench
