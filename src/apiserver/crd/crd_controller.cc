#include "apiserver/crd/crd_controller.h"

#include "apiserver/crd/definition.h"
#include "apiserver/crd/definition_strategy.h"
#include "apiserver/crd/names.h"
#include "base/async/sleep.h"
#include "base/async/stop_token.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/backoff.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <map>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
// Schemas that were compiled for validation and wait for their commit.
constexpr std::size_t kCompiledMax = 16;
// Between attempts to delete what the store did not take.
constexpr Duration kFirstWait = std::chrono::milliseconds(50);
constexpr Duration kLongestWait = std::chrono::seconds(10);

std::string_view group_of(const json::Value& definition) {
  const json::Value* spec = definition.find("spec");
  return spec == nullptr ? std::string_view() : spec->string_or_empty("group");
}

std::string spec_text(const json::Value& definition) {
  const json::Value* spec = definition.find("spec");
  return spec == nullptr ? std::string() : json::to_text(*spec);
}

bool has_finalizers(const json::Value& object) {
  const json::Value* finalizers = object.get({"metadata", "finalizers"});
  return finalizers != nullptr && finalizers->size() > 0;
}

}  // namespace

class CrdController::Impl final : public DefinitionWorld,
                                  public std::enable_shared_from_this<CrdController::Impl> {
 public:
  explicit Impl(Parts parts)
      : parts_(std::move(parts)),
        definitions_(parts_.store.collection(kDefinitions)),
        tasks_(parts_.env.loop) {}

  void start() {
    std::weak_ptr<Impl> self = weak_from_this();
    parts_.store.on_commit([self](CollectionId collection, const Event& event) {
      if (auto impl = self.lock()) {
        impl->see(collection, event);
      }
    });
    auto seen = parts_.store.visit(definitions_, {}, [&](const ObjectPtr& object) {
      see_definition(*object, false);
      return true;
    });
    CHECK(seen.has_value());
  }

  Task<void> close() { co_await tasks_.close(); }

  // DefinitionWorld

  ClaimedNames claimed(std::string_view group, std::string_view except) const override {
    ClaimedNames names;
    for (const auto& [name, known] : known_) {
      if (name != except && known.group == group) {
        names.resources.insert(known.names.resources.begin(), known.names.resources.end());
        names.kinds.insert(known.names.kinds.begin(), known.names.kinds.end());
      }
    }
    for (const Reservation& other : reserved_) {
      if (other.name != except && other.group == group) {
        names.resources.insert(other.names.resources.begin(), other.names.resources.end());
        names.kinds.insert(other.names.kinds.begin(), other.names.kinds.end());
      }
    }
    return names;
  }

  void reserve(const json::Value& definition) override {
    const json::Value* names = definition.get({"status", "acceptedNames"});
    const json::Value* metadata = definition.find("metadata");
    if (names == nullptr || metadata == nullptr) {
      return;
    }
    Reservation reservation{.name = std::string(metadata->string_or_empty("name")),
                            .group = std::string(group_of(definition)),
                            .names = {}};
    reservation.names.add(*names);
    reserved_.push_back(std::move(reservation));
    tasks_.spawn(release(shared_from_this(), std::prev(reserved_.end())));
  }

  void validate(const json::Value& definition, const json::Value* old,
                std::vector<std::string>* warnings, FieldErrors& errors) override {
    FieldErrors found;
    CompiledVersions schemas = validate_definition(
        definition, old,
        {.object_meta = parts_.object_meta, .rules = parts_.rules, .warnings = warnings}, found);
    if (found.empty()) {
      remember(spec_text(definition), std::move(schemas));
    }
    for (const model::StatusCause& cause : found.causes()) {
      errors.add(cause);
    }
  }

  bool has_instances(const json::Value& definition) const override {
    const json::Value* metadata = definition.find("metadata");
    auto known =
        known_.find(metadata == nullptr ? std::string_view() : metadata->string_or_empty("name"));
    return known != known_.end() && known->second.collection != 0 &&
           parts_.store.size(known->second.collection) > 0;
  }

 private:
  struct Known {
    std::string group;
    ClaimedNames names;
    bool accepted = false;
    CollectionId collection = 0;  // 0: not registered
    std::string plural;           // as it is registered
    bool deleting = false;
    bool cleaning = false;  // a task is at it
    StopSource gone;        // ends the watches of what is served
  };

  // Names of a definition whose write is under way: another one that is written at the same moment
  // must not be given them too.
  struct Reservation {
    std::string name;
    std::string group;
    ClaimedNames names;
  };

  // After this, every write that was sequenced when the names were given is visible or has failed.
  static Task<void> release(std::shared_ptr<Impl> self, std::list<Reservation>::iterator which) {
    co_await self->parts_.store.settle();
    const std::string group = which->group;
    self->reserved_.erase(which);
    self->recheck_names(group, "");
  }

  void remember(std::string spec, CompiledVersions schemas) {
    compiled_.emplace_back(std::move(spec), std::move(schemas));
    if (compiled_.size() > kCompiledMax) {
      compiled_.pop_front();
    }
  }

  // The schemas that validation has compiled a moment ago, or the same again.
  CompiledVersions schemas_of(const json::Value& definition) {
    const std::string spec = spec_text(definition);
    auto at = std::ranges::find(compiled_, spec, &std::pair<std::string, CompiledVersions>::first);
    if (at != compiled_.end()) {
      CompiledVersions schemas = std::move(at->second);
      compiled_.erase(at);
      return schemas;
    }
    FieldErrors errors;
    CompiledVersions schemas = validate_definition(
        definition, nullptr,
        {.object_meta = parts_.object_meta, .rules = parts_.rules, .limit_rule_costs = false},
        errors);
    if (!errors.empty()) {
      Error error = errors.to_error("apiextensions.k8s.io", "CustomResourceDefinition",
                                    definition.find("metadata")->string_or_empty("name"));
      parts_.logger.warn("stored definition is not valid", {{"error", error}});
    }
    return schemas;
  }

  void see(CollectionId collection, const Event& event) {
    if (collection == definitions_) {
      see_definition(*event.object, event.op == Write::Op::remove);
      return;
    }
    const auto emptied = emptying_.find(collection);
    if (emptied != emptying_.end() && event.op != Write::Op::update) {
      emptied->second += event.op == Write::Op::create ? 1 : 0;
      instances_changed_.notify_all();
    }
  }

  void see_definition(const Object& object, bool removed) {
    const std::string name(object.name());
    auto document = json::parse(object.json());
    CHECK(document.has_value());  // the store keeps valid JSON
    const std::string group(group_of(document->root));
    if (removed) {
      forget(name);
    } else {
      learn(name, document->root);
    }
    recheck_names(group, name);
  }

  void forget(const std::string& name) {
    auto at = known_.find(name);
    if (at == known_.end()) {
      return;
    }
    if (at->second.collection != 0) {
      parts_.registry.remove(at->second.group, at->second.plural);
      parts_.logger.info("custom resource is no longer served", {{"name", name}});
      at->second.gone.request_stop();
    }
    known_.erase(at);
  }

  void learn(const std::string& name, const json::Value& definition) {
    Known& known = known_[name];
    known.group = group_of(definition);
    known.names = {};
    if (const json::Value* names = definition.get({"status", "acceptedNames"})) {
      known.names.add(*names);
    }
    known.accepted = is_condition_true(definition, "NamesAccepted");
    known.deleting = definition.get({"metadata", "deletionTimestamp"}) != nullptr;
    if (is_condition_true(definition, "Established")) {
      serve(name, definition, known);
    }
    if (known.deleting && !known.cleaning) {
      known.cleaning = true;
      tasks_.spawn(clean_up(shared_from_this(), name));
    }
  }

  void serve(const std::string& name, const json::Value& definition, Known& known) {
    const json::Value* names = definition.get({"status", "acceptedNames"});
    std::string plural(names == nullptr ? std::string_view() : names->string_or_empty("plural"));
    CollectionId collection = parts_.store.collection(plural + "." + known.group);
    auto resource = make_resource(definition, schemas_of(definition), collection);
    if (resource == nullptr) {
      return;
    }
    bool fresh = known.collection == 0;
    known.collection = collection;
    known.plural = plural;
    Resource served = *resource;
    served.gone = known.gone.token();
    parts_.registry.add(std::move(served));
    if (fresh) {
      parts_.logger.info("custom resource is served", {{"name", name}});
    }
  }

  // Names may have become free for those who waited for them.
  void recheck_names(const std::string& group, const std::string& except) {
    for (const auto& [name, known] : known_) {
      if (known.group == group && !known.accepted && name != except) {
        tasks_.spawn(settle_names(shared_from_this(), name));
      }
    }
  }

  static Task<void> settle_names(std::shared_ptr<Impl> self, std::string name) {
    for (int failures = 0; !co_await self->try_to_settle(name);) {
      if (!co_await self->pause(++failures)) {
        co_return;
      }
    }
  }

  // False when the store does not take it now.
  Task<bool> try_to_settle(std::string name) {
    ObjectPtr object = parts_.store.get(definitions_, "", name);
    if (object == nullptr) {
      co_return true;
    }
    auto document = json::parse(object->json());
    CHECK(document.has_value());
    json::Value& definition = document->root;
    settle_status(document->arena, definition, claimed(group_of(definition), name),
                  parts_.env.clock.wall());
    if (!is_condition_true(definition, "NamesAccepted")) {
      co_return true;
    }
    reserve(definition);
    // A writer in between settles the names as well.
    Write write{.op = Write::Op::update,
                .collection = definitions_,
                .name = name,
                .text = json::to_text(definition),
                .expected = object->revision()};
    auto written = co_await parts_.store.commit(std::move(write));
    if (written || written.error().code == ErrorCode::conflict ||
        written.error().code == ErrorCode::not_found) {
      co_return true;
    }
    parts_.logger.warn("could not settle the names of a definition",
                       {{"name", name}, {"error", written.error()}});
    co_return false;
  }

  // Deletes all instances, waits until they are gone, then removes the definition.
  static Task<void> clean_up(std::shared_ptr<Impl> self, std::string name) {
    // Writes sequenced before the definition began to go may not be visible yet.
    co_await self->parts_.store.settle();
    const CollectionId collection = self->collection_of(name);
    bool emptied = collection == 0;
    if (!emptied) {
      emptied = co_await self->delete_all(collection);
    }
    if (emptied) {
      co_await self->remove_definition(name);
    }
    self->end_clean_up(name, collection);
  }

  // True when no instance is left; false when the controller closes before.
  Task<bool> delete_all(CollectionId collection) {
    emptying_.emplace(collection, 0);
    int failures = 0;
    while (parts_.store.size(collection) > 0) {
      const std::uint64_t created = emptying_[collection];
      if (Result<void> marked = co_await delete_instances(collection); !marked) {
        parts_.logger.warn("could not delete custom resources", {{"error", marked.error()}});
        if (!co_await pause(++failures)) {
          co_return false;
        }
        continue;
      }
      failures = 0;
      // The remaining instances have finalizers: somebody else lets them go, one after the other.
      while (parts_.store.size(collection) > 0 && emptying_[collection] == created) {
        if (!co_await instances_changed_.wait()) {
          co_return false;
        }
      }
    }
    co_return true;
  }

  Task<Result<void>> pause(int failures) {
    return sleep_for(full_jitter(kFirstWait, kLongestWait, failures, parts_.env.random));
  }

  CollectionId collection_of(const std::string& name) const {
    auto at = known_.find(name);
    return at == known_.end() ? 0 : at->second.collection;
  }

  void end_clean_up(const std::string& name, CollectionId collection) {
    emptying_.erase(collection);
    if (auto at = known_.find(name); at != known_.end()) {
      at->second.cleaning = false;
    }
  }

  // Afterwards every instance that was there is gone or marked as being deleted.
  Task<Result<void>> delete_instances(CollectionId collection) {
    std::vector<ObjectPtr> instances;
    auto seen = parts_.store.visit(collection, {}, [&](const ObjectPtr& object) {
      if (!object->is_being_deleted()) {
        instances.push_back(object);
      }
      return true;
    });
    CHECK(seen.has_value());
    for (ObjectPtr object : instances) {
      // Somebody may write it at the same moment: then what was written goes.
      while (object != nullptr && !object->is_being_deleted()) {
        Write write = deletion_of(collection, *object);
        auto written = co_await parts_.store.commit(std::move(write));
        if (!written && written.error().code != ErrorCode::conflict &&
            written.error().code != ErrorCode::not_found) {
          co_return fail(std::move(written).error());
        }
        object = parts_.store.get(collection, object->ns(), object->name());
      }
    }
    co_return Result<void>();
  }

  Write deletion_of(CollectionId collection, const Object& object) const {
    Write write{.op = Write::Op::remove,
                .collection = collection,
                .ns = std::string(object.ns()),
                .name = std::string(object.name()),
                .expected = object.revision()};
    auto document = json::parse(object.json());
    CHECK(document.has_value());
    if (has_finalizers(document->root)) {
      json::Value& metadata = *document->root.find("metadata");
      json::Arena& arena = document->arena;
      metadata.set_static(arena, "deletionTimestamp",
                          json::Value::string(arena, to_rfc3339(parts_.env.clock.wall())));
      metadata.set_static(arena, "deletionGracePeriodSeconds", json::Value::integer(arena, 0));
      metadata.set_static(arena, "generation",
                          json::Value::integer(arena, object.generation() + 1));
      write.op = Write::Op::update;
      write.text = json::to_text(document->root);
    }
    return write;
  }

  Task<void> remove_definition(std::string name) {
    int failures = 0;
    while (true) {
      ObjectPtr object = parts_.store.get(definitions_, "", name);
      if (object == nullptr || !object->is_being_deleted()) {
        co_return;
      }
      Write write = closing_of(*object);
      auto written = co_await parts_.store.commit(std::move(write));
      if (written || written.error().code == ErrorCode::not_found) {
        co_return;
      }
      if (written.error().code == ErrorCode::conflict) {
        continue;
      }
      parts_.logger.warn("could not remove a definition",
                         {{"name", name}, {"error", written.error()}});
      if (!co_await pause(++failures)) {
        co_return;
      }
    }
  }

  // The definition goes, unless a finalizer of somebody else keeps it.
  Write closing_of(const Object& object) const {
    Write write{.op = Write::Op::remove,
                .collection = definitions_,
                .name = std::string(object.name()),
                .expected = object.revision()};
    auto document = json::parse(object.json());
    CHECK(document.has_value());
    remove_cleanup_finalizer(document->root);
    set_condition(document->arena, document->root,
                  {"Terminating", false, "InstanceDeletionCompleted", "removed all instances"},
                  parts_.env.clock.wall());
    if (has_finalizers(document->root)) {
      write.op = Write::Op::update;
    }
    write.text = json::to_text(document->root);
    return write;
  }

  Parts parts_;
  CollectionId definitions_;
  std::map<std::string, Known, std::less<>> known_;  // every stored definition by its name
  std::list<Reservation> reserved_;
  std::deque<std::pair<std::string, CompiledVersions>> compiled_;
  std::map<CollectionId, std::uint64_t> emptying_;  // with the instances created meanwhile
  WaitList instances_changed_;
  TaskGroup tasks_;
};

CrdController::CrdController(Parts parts) : impl_(std::make_shared<Impl>(std::move(parts))) {}
CrdController::~CrdController() = default;

void CrdController::customize(Resource& resource) const {
  if (resource.qualified_name() == kDefinitions) {
    resource.strategy = make_definition_strategy(impl_);
  }
}

void CrdController::start() {
  impl_->start();
}

Task<void> CrdController::close() {
  co_await impl_->close();
}

}  // namespace codeflare::apiserver
