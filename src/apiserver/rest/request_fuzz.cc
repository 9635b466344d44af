#include "apiserver/rest/testing/api_world.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kMethods[] = {"GET",    "POST", "PUT",    "PATCH",
                                         "DELETE", "HEAD", "OPTIONS"};
constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";
constexpr std::string_view kApply = "application/apply-patch+yaml";
constexpr std::string_view kTypes[] = {"",
                                       "application/json",
                                       "application/yaml",
                                       "application/vnd.kubernetes.protobuf",
                                       "application/json-patch+json",
                                       "application/merge-patch+json",
                                       kStrategic,
                                       kApply};

// Mistakes of the client that upstream, too, answers with 500: the errors of its strategicpatch and
// managedfields that nobody there translates. Any other 500 is a mistake of ours.
struct Excuse {
  std::string_view type;  // of the request's body; empty: any
  std::string_view words;
};
constexpr Excuse kExcuses[] = {
    {"", "resourceVersion should not be set"},
    {kStrategic, "does not contain declared merge key: "},
    {kStrategic, ", but received a "},
    {kStrategic, "unknown patch type: "},
    {kStrategic, "merging an object in json but data type is not struct"},
    {kStrategic, "unable to find api field in struct "},
    {kStrategic, "expected slice or array type, but got: "},
    {kStrategic, "unexpected slice of slice"},
    {kStrategic, "list element types are not identical: "},
    {kStrategic, "no elements in any of the given slices"},
    {kStrategic, "The order in patch list:"},
    {kStrategic, "merging lists cannot yet be specified in the patch"},
    {kStrategic, "cannot merge lists without merge key for "},
    {kStrategic, " is not a map"},
    // Upstream panics, which is a 500 as well.
    {kStrategic, "cannot order a list of maps without merge key"},
    {kApply, "failed to create typed patch object ("},
    {kApply, "failed to decode managed fields: "},
};

bool is_excused(std::string_view type, std::string_view body) {
  return std::ranges::any_of(kExcuses, [&](const Excuse& excuse) {
    return (excuse.type.empty() || excuse.type == type) && body.contains(excuse.words);
  });
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// First byte: method and type of the body. Then lines: target, Accept. The rest is the body.
void run_one(std::string_view input) {
  static ApiWorld* world = [] {
    auto* made = new ApiWorld();
    made->add_custom();
    made->post("/api/v1/namespaces/default/configmaps",
               R"({"metadata":{"name":"a","labels":{"x":"1"}},"data":{"k":"v"}})");
    made->post("/api/v1/namespaces/default/pods",
               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    made->post("/apis/example.com/v1/namespaces/default/things",
               R"({"metadata":{"name":"a"},"spec":{"replicas":1}})");
    return made;
  }();
  if (input.empty()) {
    return;
  }
  const auto choice = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  const std::string_view method = kMethods[choice % std::size(kMethods)];
  const std::string_view type = kTypes[choice / 16 % std::size(kTypes)];
  const std::string target = "/" + std::string(take_line(input));
  const std::string accept(take_line(input));
  net::Request request{.method = std::string(method), .target = target};
  if (!type.empty()) {
    request.headers.set("Content-Type", std::string(type));
  }
  if (!accept.empty()) {
    request.headers.set("Accept", accept);
  }
  if (!input.empty()) {
    request.body = net::body_of(std::string(input));
  }
  Answer answer;
  if (target.contains("watch")) {
    answer.status = world->watch(target, request.headers).status();
  } else {
    answer = world->request(std::move(request));
  }
  if (answer.status < 200 || answer.status > 599 ||
      (answer.status == 500 && !is_excused(type, answer.body))) {
    std::abort();
  }
  // A stored object can always be read again.
  if (world->get("/api/v1/configmaps").status != 200) {
    std::abort();
  }
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
