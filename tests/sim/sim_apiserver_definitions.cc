#include "tests/sim/sim_apiserver_definitions.h"

#include "base/async/sleep.h"
#include "json/parse.h"
#include "json/value.h"
#include "tests/sim/fault_mix.h"

#include <utility>

namespace codeflare::sim {

namespace {

using kube::ObjectKey;

constexpr std::string_view kGroup = "examples.codeflare.dev";
constexpr Duration kPause = std::chrono::seconds(3);
constexpr std::uint64_t kNames = 5;
const kube::ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                      "customresourcedefinitions", false};
const ObjectKey kDefinition{"", kTrinketCollection};

std::string versions(bool newer) {
  std::string text;
  for (const std::string name : {"v1", "v1alpha1"}) {
    text += (text.empty() ? "" : ",") + std::string(R"({"name":")") + name +
            R"(","served":true,"storage":)" + ((name == "v1") == newer ? "true" : "false") +
            R"(,"schema":{"openAPIV3Schema":{"type":"object",)"
            R"("x-kubernetes-preserve-unknown-fields":true}}})";
  }
  return "\"versions\":[" + text + "]";
}

}  // namespace

DefinitionWriter::DefinitionWriter(Env env, kube::Client& client, Say say)
    : env_(env), client_(client), say_(std::move(say)) {
  for (const char* what : {"definitions", "definitions removed", "storage versions", "trinkets",
                           "trinkets patched", "trinkets let go"}) {
    counts_[what] = 0;
  }
}

Task<void> DefinitionWriter::work(const bool& over) {
  while (!over) {
    co_await step();
    (void)co_await sleep_for(up_to(env_.random, kPause));
  }
}

Task<void> DefinitionWriter::step() {
  const std::uint64_t choice = pick(20);
  if (choice < 3) {
    note("definitions", co_await define());
  } else if (choice < 4) {
    note("definitions removed", co_await client_.remove(kDefinitions, kDefinition));
  } else if (choice < 6) {
    note("storage versions", co_await store_otherwise());
  } else if (choice < 11) {
    note("trinkets", co_await create());
  } else if (choice < 15) {
    note("trinkets patched", co_await patch());
  } else if (choice < 17) {
    note("trinkets removed", co_await remove());
  } else {
    (void)co_await let_go();
  }
}

void DefinitionWriter::note(const std::string& what, const Outcome& outcome) {
  counts_[what] += outcome ? 1 : 0;
  std::string line = "definer: " + what + " ";
  if (!outcome) {
    line += outcome.error().to_string();
  } else if (*outcome != nullptr) {
    line += (*outcome)->key().to_string() + "@" + std::string((*outcome)->resource_version());
  }
  say_(line);
}

kube::ResourceType DefinitionWriter::some_version() {
  return {std::string(kGroup), pick(2) == 0 ? "v1" : "v1alpha1", "Trinket", "trinkets", true};
}

Task<DefinitionWriter::Outcome> DefinitionWriter::define() {
  co_return co_await client_.create(
      kDefinitions, "",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
      R"({"name":")" +
          kTrinketCollection + R"("},"spec":{"group":")" + std::string(kGroup) +
          R"(","scope":"Namespaced","names":{"kind":"Trinket","plural":"trinkets"},)" +
          versions(pick(2) == 0) + "}}");
}

Task<DefinitionWriter::Outcome> DefinitionWriter::store_otherwise() {
  co_return co_await client_.patch(kDefinitions, kDefinition, kube::PatchKind::merge,
                                   R"({"spec":{)" + versions(pick(2) == 0) + "}}");
}

Task<DefinitionWriter::Outcome> DefinitionWriter::create() {
  const kube::ResourceType type = some_version();
  const std::string finalizers = pick(2) == 0 ? R"(,"finalizers":["example.com/hold"])" : "";
  co_return co_await client_.create(type, "default",
                                    R"({"apiVersion":")" + std::string(kGroup) + "/" +
                                        type.version +
                                        R"(","kind":"Trinket","metadata":{"name":"t)" +
                                        std::to_string(pick(kNames)) + "\"" + finalizers + "}}");
}

Task<DefinitionWriter::Outcome> DefinitionWriter::patch() {
  co_return co_await client_.patch(some_version(), {"default", "t" + std::to_string(pick(kNames))},
                                   kube::PatchKind::merge,
                                   R"({"spec":{"n":)" + std::to_string(pick(100)) + "}}");
}

Task<DefinitionWriter::Outcome> DefinitionWriter::remove() {
  co_return co_await client_.remove(some_version(),
                                    {"default", "t" + std::to_string(pick(kNames))});
}

Task<bool> DefinitionWriter::let_go() {
  const kube::ResourceType type = some_version();
  Result<kube::ObjectList> found = co_await client_.list_all(type, {.limit = 3});
  if (!found) {
    // Without a definition there are none.
    co_return found.error().code == ErrorCode::not_found;
  }
  bool all = true;
  for (const kube::ObjectRef& object : found->items) {
    if (!object->deleting()) {
      continue;
    }
    all = false;
    note("trinkets let go",
         co_await client_.patch(type, object->key(), kube::PatchKind::merge,
                                R"({"metadata":{"finalizers":null,"resourceVersion":")" +
                                    std::string(object->resource_version()) + "\"}}"));
  }
  co_return all;
}

std::string wrong_version(std::string_view request, std::string_view body) {
  constexpr std::string_view kRoot = "/apis/";
  const std::size_t path = request.find(std::string(kRoot).append(kGroup));
  if (path == request.npos || !request.contains("/trinkets")) {
    return {};
  }
  const std::size_t group = path + kRoot.size();
  const std::size_t version = group + kGroup.size() + 1;
  const std::string expected(request.substr(group, request.find('/', version) - group));
  const Result<json::Document> parsed = json::parse(body);
  if (!parsed || parsed->root.string_or_empty("kind") == "Status") {
    return {};
  }
  std::string found(parsed->root.string_or_empty("apiVersion"));
  if (const json::Value* items = parsed->root.find("items")) {
    for (const json::Value& item : items->items()) {
      if (item.string_or_empty("apiVersion") != expected) {
        found = item.string_or_empty("apiVersion");
      }
    }
  }
  return found == expected ? "" : std::string(request) + " was answered in version " + found;
}

}  // namespace codeflare::sim
