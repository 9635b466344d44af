#include "tests/sim/sim_apiserver_writer.h"

#include "base/async/sleep.h"
#include "examples/hello_controller/hello.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "tests/sim/fault_mix.h"

#include <array>
#include <utility>

namespace codeflare::sim {

using hello::kConfigMaps;
using hello::kGreetings;
using kube::ObjectKey;

namespace {

constexpr std::uint64_t kGreetingNames = 4;
constexpr std::uint64_t kMapNames = 6;
constexpr std::string_view kHold = "example.com/hold";
constexpr Duration kPause = std::chrono::milliseconds(1500);
constexpr auto kPropagation =
    std::to_array<std::string_view>({"", "Background", "Foreground", "Orphan"});

// The object's finalizers but ours; nothing when ours is not among them.
std::optional<std::string> other_finalizers(const kube::Object& object) {
  const Result<json::Document> parsed = object.parse();
  const json::Value* finalizers = parsed ? parsed->root.get({"metadata", "finalizers"}) : nullptr;
  if (finalizers == nullptr || !finalizers->is_array()) {
    return std::nullopt;
  }
  bool held = false;
  std::string rest;
  for (const json::Value& finalizer : finalizers->items()) {
    if (finalizer.is_string() && finalizer.as_string() == kHold) {
      held = true;
      continue;
    }
    rest += (rest.empty() ? "" : ",") + json::to_text(finalizer);
  }
  return held ? std::optional("[" + rest + "]") : std::nullopt;
}

}  // namespace

RandomWriter::RandomWriter(Env env, kube::Client& client, std::string name, Say say)
    : env_(env), client_(client), name_(std::move(name)), say_(std::move(say)) {}

Task<void> RandomWriter::work(const bool& over) {
  while (!over) {
    co_await step();
    (void)co_await sleep_for(up_to(env_.random, kPause));
  }
}

Task<void> RandomWriter::step() {
  const std::uint64_t choice = pick(20);
  if (choice < 5) {
    note("greeting", co_await write_greeting());
  } else if (choice < 8) {
    note("map", co_await write_map());
  } else if (choice < 10) {
    note("patch", co_await patch_map());
  } else if (choice < 12) {
    note("quota", co_await fill_quota());
  } else if (choice < 14) {
    note("namespace", co_await change_namespace());
  } else if (choice < 18) {
    note("remove", co_await remove_something());
  } else if (choice < 19) {
    note("remove many", co_await remove_many());
  } else {
    (void)co_await let_go();
  }
}

void RandomWriter::note(const std::string& what, const Outcome& outcome) {
  ++counts_[outcome ? "writes" : "failed writes"];
  std::string line = name_ + ": " + what + " ";
  if (!outcome) {
    line += outcome.error().to_string();
  } else if (*outcome != nullptr) {
    line += (*outcome)->key().to_string() + "@" + std::string((*outcome)->resource_version());
  }
  say_(line);
}

std::string RandomWriter::some_namespace() {
  const std::uint64_t choice = pick(4);
  return choice < 2 ? "default" : choice == 2 ? "n0" : "n1";
}

ObjectKey RandomWriter::some_greeting() {
  return {some_namespace(), "g" + std::to_string(pick(kGreetingNames))};
}

ObjectKey RandomWriter::some_map(std::uint64_t below) {
  return {some_namespace(), "c" + std::to_string(pick(below))};
}

std::string RandomWriter::metadata(const ObjectKey& key, const std::string& more) {
  std::string text = R"("metadata":{"name":")" + key.name + R"(","namespace":")" + key.ns +
                     R"(","labels":{"app":")" + (one_in(2) ? "web" : "db") + "\"}" + more;
  if (one_in(6)) {
    text += R"(,"finalizers":[")" + std::string(kHold) + "\"]";
  }
  return text + "}";
}

kube::DeleteOptions RandomWriter::some_removal() {
  return {.propagation_policy = std::string(kPropagation[pick(kPropagation.size())])};
}

Task<RandomWriter::Outcome> RandomWriter::write_greeting() {
  const ObjectKey key = some_greeting();
  const std::string spec = R"("spec":{"name":"n)" + std::to_string(pick(100)) + "\"}";
  const std::string head = R"({"apiVersion":"examples.codeflare.dev/v1","kind":"Greeting",)";
  if (one_in(3)) {
    co_return co_await client_.apply(
        kGreetings, key, head + R"("metadata":{"name":")" + key.name + "\"}," + spec + "}",
        {.force = true});
  }
  if (one_in(2)) {
    co_return co_await client_.patch(kGreetings, key, kube::PatchKind::merge, "{" + spec + "}");
  }
  Outcome old = co_await client_.get(kGreetings, key);
  if (!old && old.error().code == ErrorCode::not_found) {
    co_return co_await client_.create(kGreetings, key.ns,
                                      head + metadata(key, {}) + "," + spec + "}");
  }
  if (!old) {
    co_return old;
  }
  const std::string version =
      R"(,"resourceVersion":")" + std::string((*old)->resource_version()) + "\"";
  co_return co_await client_.update(kGreetings, key,
                                    head + metadata(key, version) + "," + spec + "}");
}

Task<std::string> RandomWriter::some_owners(std::string ns, std::uint64_t number) {
  std::string owners;
  for (std::uint64_t i = pick(3); i > 0; --i) {
    const bool greeting = number == 0 || one_in(2);
    const ObjectKey key{ns, greeting ? "g" + std::to_string(pick(kGreetingNames))
                                     : "c" + std::to_string(pick(number))};
    Outcome owner = co_await client_.get(greeting ? kGreetings : kConfigMaps, key);
    if (!owner && !one_in(4)) {
      continue;
    }
    const std::string uid = owner ? std::string((*owner)->uid()) : env_.random.uuid();
    if (owners.contains(uid)) {
      continue;
    }
    owners += (owners.empty() ? "" : ",") + std::string(R"({"apiVersion":")") +
              (greeting ? "examples.codeflare.dev/v1" : "v1") + R"(","kind":")" +
              (greeting ? "Greeting" : "ConfigMap") + R"(","name":")" + key.name + R"(","uid":")" +
              uid + R"(","blockOwnerDeletion":)" + (one_in(2) ? "true" : "false") + "}";
  }
  co_return owners.empty() ? owners : R"(,"ownerReferences":[)" + owners + "]";
}

Task<RandomWriter::Outcome> RandomWriter::write_map() {
  const std::uint64_t number = pick(kMapNames);
  const ObjectKey key{some_namespace(), "c" + std::to_string(number)};
  const std::string owners = co_await some_owners(key.ns, number);
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap",)" + metadata(key, owners) +
                           R"(,"data":{"n":")" + std::to_string(pick(1000)) + "\"}}";
  Outcome made = co_await client_.create(kConfigMaps, key.ns, body);
  if (!made && made.error().code == ErrorCode::already_exists) {
    co_return co_await client_.update(kConfigMaps, key, body);
  }
  co_return made;
}

Task<RandomWriter::Outcome> RandomWriter::patch_map() {
  // The controller's ConfigMaps are called like their Greetings.
  const ObjectKey key = one_in(3) ? some_greeting() : some_map(kMapNames);
  const std::string body =
      one_in(2)
          ? std::string(R"({"metadata":{"labels":{"app":")") + (one_in(2) ? "web" : "db") + "\"}}}"
          : R"({"data":{"text":"other )" + std::to_string(pick(10)) + "\"}}";
  co_return co_await client_.patch(kConfigMaps, key, kube::PatchKind::merge, body);
}

Task<RandomWriter::Outcome> RandomWriter::fill_quota() {
  const ObjectKey key{kQuotaNamespace, "q" + std::to_string(pick(kQuota + 2))};
  if (one_in(3)) {
    co_return co_await client_.remove(kConfigMaps, key, some_removal());
  }
  Outcome made = co_await client_.create(kConfigMaps, key.ns,
                                         R"({"metadata":{"name":")" + key.name + R"("}})");
  if (!made && made.error().code == ErrorCode::permission_denied) {
    ++counts_["over quota"];
  }
  co_return made;
}

Task<RandomWriter::Outcome> RandomWriter::change_namespace() {
  const std::string name = one_in(2) ? "n0" : "n1";
  if (one_in(3)) {
    co_return co_await client_.remove(kNamespaces, {"", name});
  }
  co_return co_await client_.create(kNamespaces, "", R"({"metadata":{"name":")" + name + R"("}})");
}

Task<RandomWriter::Outcome> RandomWriter::remove_something() {
  const bool greeting = one_in(2);
  const kube::ResourceType type = greeting ? kGreetings : kConfigMaps;
  const ObjectKey key = greeting || one_in(3) ? some_greeting() : some_map(kMapNames);
  kube::DeleteOptions options = some_removal();
  if (one_in(3)) {
    Outcome old = co_await client_.get(type, key);
    if (!old) {
      co_return old;
    }
    options.uid = (*old)->uid();
    options.resource_version = (*old)->resource_version();
  }
  co_return co_await client_.remove(type, key, options);
}

Task<RandomWriter::Outcome> RandomWriter::remove_many() {
  Result<void> removed = co_await client_.remove_collection(
      one_in(2) ? kGreetings : kConfigMaps,
      {.ns = some_namespace(), .label_selector = one_in(2) ? "app=web" : "app=db"}, some_removal());
  co_return removed ? Outcome(nullptr) : Outcome(fail(std::move(removed).error()));
}

Task<bool> RandomWriter::let_go() {
  const bool maps = co_await let_go_of(kConfigMaps);
  const bool greetings = co_await let_go_of(kGreetings);
  co_return maps&& greetings;
}

Task<bool> RandomWriter::let_go_of(kube::ResourceType type) {
  Result<kube::ObjectList> found = co_await client_.list_all(type, {.limit = 5});
  if (!found) {
    co_return false;
  }
  bool all = true;
  for (const kube::ObjectRef& object : found->items) {
    const std::optional<std::string> rest =
        object->deleting() ? other_finalizers(*object) : std::nullopt;
    if (!rest) {
      continue;
    }
    std::string body = R"({"metadata":{"finalizers":)" + *rest + R"(,"resourceVersion":")" +
                       std::string(object->resource_version()) + "\"}}";
    const Outcome done =
        co_await client_.patch(type, object->key(), kube::PatchKind::merge, std::move(body));
    note("let go", done);
    all = false;
  }
  co_return all;
}

}  // namespace codeflare::sim
