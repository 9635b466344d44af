#include "kube/testing/scripted_service.h"

#include "base/async/sleep.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/write.h"
#include "kube/testing/scripted_target.h"
#include "kube/testing/scripted_watch.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::kube::testing {

namespace {

using json::Document;
using json::Value;

constexpr std::size_t kBodyMax = 8u << 20;
constexpr std::int64_t kWatchSecondsDefault = 1'800;

net::Response json_answer(int code, std::string text) {
  return net::make_response(code, "application/json", Bytes::from(std::move(text)));
}

net::Response not_there(const ScriptedService::Target& target) {
  return status_answer(404, "NotFound",
                       target.collection() + " \"" + target.key.name + "\" not found");
}

net::Response changed_meanwhile(const ScriptedService::Target& target) {
  return status_answer(409, "Conflict",
                       "Operation cannot be fulfilled on " + target.collection() + " \"" +
                           target.key.name + "\": the object has been modified");
}

net::Response expired(const std::string& continue_token = {}) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("kind", "Status").member("apiVersion", "v1");
  w.key("metadata").begin_object().member_if_set("continue", continue_token).end_object();
  w.member("status", "Failure").member("message", "too old resource version");
  w.member("reason", "Expired").key("code").integer(410).end_object();
  return json_answer(410, std::move(text));
}

net::Response too_new() {
  net::Response response = json_answer(
      504, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
           R"("message":"Timeout: Too large resource version","reason":"Timeout","code":504,)"
           R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})");
  response.headers.set("Retry-After", "1");
  return response;
}

std::uint64_t to_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Value text_value(Document& document, std::string_view text) {
  return Value::string(document.arena, text);
}

Value& metadata_of(Document& document) {
  Value* metadata = document.root.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return document.root.set(document.arena, "metadata", Value::object());
  }
  return *metadata;
}

// The member of one object set to what it is in another, absent if it is absent there.
void take_member(Document& to, Value& object, std::string_view key, const Value* from) {
  const Value* value = from == nullptr ? nullptr : from->find(key);
  if (value == nullptr) {
    object.erase(key);
  } else {
    object.set(to.arena, key, value->clone(to.arena));
  }
}

bool has_finalizers(const Value& object) {
  const Value* finalizers = object.get({"metadata", "finalizers"});
  return finalizers != nullptr && finalizers->size() > 0;
}

// Everything but metadata and status, which alone counts as a new generation.
bool same_spec(const Value& a, const Value& b) {
  json::Arena arena;
  Value left = a.clone(arena);
  Value right = b.clone(arena);
  for (Value* value : {&left, &right}) {
    value->erase("metadata");
    value->erase("status");
  }
  return json::equal(left, right);
}

}  // namespace

net::Response status_answer(int code, std::string_view reason, std::string_view message) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("kind", "Status").member("apiVersion", "v1");
  w.key("metadata").begin_object().end_object();
  w.member("status", code < 400 ? "Success" : "Failure").member_if_set("message", message);
  w.member_if_set("reason", reason).key("code").integer(code).end_object();
  return json_answer(code, std::move(text));
}

ScriptedService::ScriptedService(Env env, ScriptedOptions options)
    : env_(env), options_(options), shared_(std::make_shared<Shared>(options.history_max)) {}

ScriptedService::~ScriptedService() = default;

Task<Result<net::Response>> ScriptedService::send(net::Request request) {
  requests_.push_back(request.method + " " + request.target);
  if (intercept_) {
    if (std::optional<net::Response> answer = intercept_(request)) {
      co_return *std::move(answer);
    }
  }
  CO_TRY_ASSIGN(const std::string body, co_await net::read_all(std::move(request.body), kBodyMax));
  const Result<Target> target = parse_target(request);
  if (!target) {
    const bool missing = target.error().code == ErrorCode::not_found;
    co_return status_answer(missing ? 404 : 400, missing ? "NotFound" : "BadRequest",
                            target.error().message);
  }
  const std::string type(request.headers.get("content-type").value_or(""));
  const bool object = !target->key.name.empty();
  if (request.method == "GET") {
    if (target->flag("watch")) {
      co_return watch(*target);
    }
    if (!object) {
      co_return list(*target);
    }
    const ObjectRef found = shared_->store.find(target->collection(), target->key);
    co_return found == nullptr ? not_there(*target) : json_answer(200, target->text_of(*found));
  }
  if (request.method == "POST" && !object) {
    co_return create(*target, body);
  }
  if (request.method == "PUT" && object) {
    co_return update(*target, body);
  }
  if (request.method == "PATCH" && object) {
    co_return patch(*target, type, body);
  }
  if (request.method == "DELETE") {
    co_return object ? remove(*target, body) : remove_all(*target);
  }
  co_return status_answer(405, "MethodNotAllowed", "the server does not allow this method here");
}

net::Response ScriptedService::create(const Target& target, std::string_view body) {
  Result<Document> object = json::parse(body);
  if (!object || !object->root.is_object()) {
    return status_answer(400, "BadRequest", object ? "no object" : object.error().message);
  }
  Value& metadata = metadata_of(*object);
  if (metadata.string_or_empty("name").empty()) {
    const std::string name =
        std::string(metadata.string_or_empty("generateName")) + env_.random.name_suffix();
    metadata.set(object->arena, "name", text_value(*object, name));
  }
  if (!target.key.ns.empty()) {
    metadata.set(object->arena, "namespace", text_value(*object, target.key.ns));
  }
  Target created = target;
  created.key.name = metadata.string_or_empty("name");
  if (shared_->store.find(target.collection(), created.key) != nullptr) {
    return status_answer(409, "AlreadyExists",
                         target.collection() + " \"" + created.key.name + "\" already exists");
  }
  if (options_.status_subresource) {
    object->root.erase("status");
  }
  return store(created, *std::move(object), nullptr, 201);
}

// Sets what the server owns, and writes, or deletes an object whose last finalizer went.
net::Response ScriptedService::store(const Target& target, Document object, const ObjectRef& old,
                                     int code) {
  if (target.flag("dryRun") || target.parameter("dryRun") == "All") {
    return json_answer(code, json::to_text(object.root));
  }
  Value& metadata = metadata_of(object);
  if (old == nullptr) {
    metadata.set(object.arena, "uid", text_value(object, env_.random.uuid()));
    metadata.set(object.arena, "creationTimestamp",
                 text_value(object, to_rfc3339(env_.clock.wall())));
    metadata.set(object.arena, "generation", Value::integer(object.arena, 1));
  } else {
    const Result<Document> before = old->parse();
    const Value* owned = before->root.find("metadata");
    for (std::string_view key :
         {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "generation"}) {
      take_member(object, metadata, key, owned);
    }
    if (!same_spec(object.root, before->root)) {
      metadata.set(object.arena, "generation", Value::integer(object.arena, old->generation() + 1));
    }
  }
  ObjectRef written = shared_->store.write(target.collection(), object.root);
  if (written->deleting() && !has_finalizers(object.root)) {
    shared_->store.erase(target.collection(), target.key);
  }
  return json_answer(code, target.text_of(*written));
}

net::Response ScriptedService::update(const Target& target, std::string_view body) {
  Result<Document> object = json::parse(body);
  const ObjectRef old = shared_->store.find(target.collection(), target.key);
  if (!object || !object->root.is_object()) {
    return status_answer(400, "BadRequest", object ? "no object" : object.error().message);
  }
  if (old == nullptr) {
    return not_there(target);
  }
  const Value& metadata = metadata_of(*object);
  const std::string_view rv = metadata.string_or_empty("resourceVersion");
  const std::string_view uid = metadata.string_or_empty("uid");
  if ((!rv.empty() && rv != old->resource_version()) || (!uid.empty() && uid != old->uid())) {
    return changed_meanwhile(target);
  }
  const Result<Document> before = old->parse();
  if (target.subresource == "status") {
    Document next;
    next.root = before->root.clone(next.arena);
    take_member(next, next.root, "status", &object->root);
    return store(target, std::move(next), old, 200);
  }
  if (options_.status_subresource) {
    take_member(*object, object->root, "status", &before->root);
  }
  return store(target, *std::move(object), old, 200);
}

net::Response ScriptedService::patch(const Target& target, std::string_view type,
                                     std::string_view body) {
  const Result<Document> change = json::parse(body);
  const ObjectRef old = shared_->store.find(target.collection(), target.key);
  if (!change) {
    return status_answer(400, "BadRequest", change.error().message);
  }
  if (old == nullptr) {
    return type.starts_with("application/apply-patch") ? create(target, body) : not_there(target);
  }
  const Result<Document> before = old->parse();
  Document after;
  if (type.starts_with("application/json-patch")) {
    Result<Document> patched = json::apply_patch(before->root, change->root);
    if (!patched) {
      return status_answer(422, "Invalid", patched.error().message);
    }
    after = *std::move(patched);
  } else {
    after = json::apply_merge_patch(before->root, change->root);
  }
  return update(target, json::to_text(after.root));
}

net::Response ScriptedService::remove(const Target& target, std::string_view body) {
  const ObjectRef old = shared_->store.find(target.collection(), target.key);
  if (old == nullptr) {
    return not_there(target);
  }
  if (Result<Document> options = json::parse(body.empty() ? "{}" : body)) {
    if (const Value* wanted = options->root.find("preconditions")) {
      const std::string_view uid = wanted->string_or_empty("uid");
      const std::string_view rv = wanted->string_or_empty("resourceVersion");
      if ((!uid.empty() && uid != old->uid()) || (!rv.empty() && rv != old->resource_version())) {
        return changed_meanwhile(target);
      }
    }
    if (options->root.find("dryRun") != nullptr) {
      return status_answer(200, "", "");
    }
  }
  Result<Document> object = old->parse();
  if (!has_finalizers(object->root)) {
    shared_->store.erase(target.collection(), target.key);
    return status_answer(200, "", "");
  }
  if (!old->deleting()) {
    metadata_of(*object).set(object->arena, "deletionTimestamp",
                             text_value(*object, to_rfc3339(env_.clock.wall())));
  }
  const ObjectRef written = shared_->store.write(target.collection(), object->root);
  return json_answer(200, target.text_of(*written));
}

net::Response ScriptedService::remove_all(const Target& target) {
  std::vector<model::ObjectKey> keys;
  for (const auto& [key, object] : shared_->store.objects(target.collection())) {
    if (target.selects(*object)) {
      keys.push_back(key);
    }
  }
  for (const model::ObjectKey& key : keys) {
    Target one = target;
    one.key = key;
    remove(one, "");
  }
  return status_answer(200, "", "");
}

std::uint64_t ScriptedService::stale_revision() {
  const std::uint64_t back = env_.random.below(options_.stale_revisions_max + 1);
  const std::uint64_t now = shared_->store.revision();
  return std::max(shared_->store.compacted(), now - std::min(now, back));
}

net::Response ScriptedService::list(const Target& target) {
  const std::string asked = target.parameter("resourceVersion");
  const std::string token = target.parameter("continue");
  const std::uint64_t limit = to_number(target.parameter("limit"));
  if (target.flag("sendInitialEvents")) {
    return status_answer(422, "Invalid", "sendInitialEvents is for watches");
  }
  if (to_number(asked) > revision()) {
    return too_new();
  }
  // A token is "revision:namespace/name": the rest of a list as of that revision.
  std::uint64_t at = revision();
  std::optional<model::ObjectKey> from;
  if (!token.empty()) {
    const std::size_t colon = token.find(':');
    const std::size_t slash = token.find('/');
    at = to_number(std::string_view(token).substr(0, colon));
    from = {token.substr(colon + 1, slash - colon - 1), token.substr(slash + 1)};
  } else if (asked == "0") {
    at = stale_revision();
  } else if (!asked.empty() && limit > 0 && target.parameter("resourceVersionMatch").empty()) {
    at = to_number(asked);
  }
  const std::optional<ScriptedStore::Objects> state =
      shared_->store.objects_at(target.collection(), at);
  if (!state) {
    const std::string fresh =
        from ? std::to_string(revision()) + ":" + from->ns + "/" + from->name : std::string();
    return expired(fresh);
  }
  std::string items;
  std::string next;
  std::uint64_t count = 0;
  for (auto object = from ? state->upper_bound(*from) : state->begin(); object != state->end();
       ++object) {
    if (!target.selects(*object->second)) {
      continue;
    }
    if (limit > 0 && count == limit) {
      next = std::to_string(at) + ":" + from->ns + "/" + from->name;
      break;
    }
    items += (items.empty() ? "" : ",") + target.text_of(*object->second);
    from = object->first;
    ++count;
  }
  std::string text;
  json::Writer w(text);
  w.begin_object().member("kind", "ScriptedList").member("apiVersion", "v1");
  w.key("metadata").begin_object().member("resourceVersion", std::to_string(at));
  w.member_if_set("continue", next).end_object();
  w.key("items").raw("[" + items + "]").end_object();
  return json_answer(200, std::move(text));
}

net::Response ScriptedService::watch(const Target& target) {
  const std::string asked = target.parameter("resourceVersion");
  bool initial = target.flag("sendInitialEvents");
  if (initial && (options_.watch_list == ScriptedOptions::WatchList::refused ||
                  target.parameter("resourceVersionMatch") != "NotOlderThan")) {
    return status_answer(422, "Invalid", "sendInitialEvents is forbidden");
  }
  initial = initial && options_.watch_list == ScriptedOptions::WatchList::served;
  if (to_number(asked) > revision()) {
    return too_new();
  }
  ScriptedWatch watch{.target = target};
  if (initial || asked.empty() || asked == "0") {
    watch.snapshot = true;
    watch.marks_end = initial;
    watch.revision = asked == "0" ? stale_revision() : revision();
  } else {
    const std::uint64_t wanted = to_number(asked);
    if (wanted < shared_->store.compacted()) {
      return expired();
    }
    watch.revision = std::max(shared_->store.compacted(),
                              wanted - std::min(wanted, options_.replayed_revisions));
  }
  watch.bookmarks = target.flag("allowWatchBookmarks");
  const auto seconds = static_cast<std::int64_t>(to_number(target.parameter("timeoutSeconds")));
  watch.deadline =
      after(env_.loop.now(), std::chrono::seconds(seconds > 0 ? seconds : kWatchSecondsDefault));
  net::Response response;
  response.headers.add("Content-Type", "application/json");
  response.body = make_watch_body(env_, shared_, options_, std::move(watch));
  return response;
}

ObjectRef ScriptedService::put(const model::ResourceType& type, std::string_view json) {
  Result<Document> object = json::parse(json);
  CHECK(object.has_value(), "the object of a test is not JSON");
  Target target{.group = type.group, .version = type.version, .plural = type.plural};
  Value& metadata = metadata_of(*object);
  target.key = {std::string(metadata.string_or_empty("namespace")),
                std::string(metadata.string_or_empty("name"))};
  const ObjectRef old = find(type, target.key);
  store(target, *std::move(object), old, 200);
  return find(type, target.key);
}

bool ScriptedService::erase(const model::ResourceType& type, const model::ObjectKey& key) {
  if (find(type, key) == nullptr) {
    return false;
  }
  shared_->store.erase(type.qualified_name(), key);
  return true;
}

ObjectRef ScriptedService::find(const model::ResourceType& type,
                                const model::ObjectKey& key) const {
  return shared_->store.find(type.qualified_name(), key);
}

const ScriptedStore::Objects& ScriptedService::objects(const model::ResourceType& type) const {
  return shared_->store.objects(type.qualified_name());
}

std::uint64_t ScriptedService::revision() const {
  return shared_->store.revision();
}

void ScriptedService::compact() {
  shared_->store.compact();
}

void ScriptedService::set_observer(Observer observer) {
  shared_->store.set_observer(std::move(observer));
}

std::size_t ScriptedService::open_watches() const {
  return shared_->open;
}

void ScriptedService::end_watches() {
  ++shared_->ended;
  shared_->store.changed().notify_all();
}

void ScriptedService::break_watches() {
  ++shared_->broken;
  shared_->store.changed().notify_all();
}

}  // namespace codeflare::kube::testing
