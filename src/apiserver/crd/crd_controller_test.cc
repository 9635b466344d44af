#include "apiserver/crd/crd_controller.h"

#include "apiserver/schema/builtin.h"
#include "apiserver/store/testing/store_world.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";

std::string definition(std::string_view plural, std::string_view kind,
                       std::string_view short_name = "x") {
  std::string text =
      R"({"metadata":{"name":"P.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"P","kind":"K","shortNames":["S"]},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object"}}}}}]}})";
  auto replace = [&](char from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(std::string("\"") + from, at)) != std::string::npos;
         at += to.size() + 1) {
      text.replace(at + 1, 1, to);
    }
  };
  replace('P', plural);
  replace('K', kind);
  std::size_t at = text.find("[\"S\"]");
  text.replace(at, 5, "[\"" + std::string(short_name) + "\"]");
  return text;
}

// The REST layer's handling of a definition, without the REST layer.
class CrdWorld {
 public:
  CrdWorld() { restart(); }
  ~CrdWorld() { close(); }

  void restart() {
    close();
    registry = std::make_unique<Registry>();
    controller = std::make_unique<CrdController>(
        CrdController::Parts{world.env(), world.store(), *registry, schema::object_meta(), nullptr,
                             world.log.logger(world.env().clock)});
    resource = Resource{.group = "apiextensions.k8s.io", .plural = "customresourcedefinitions"};
    controller->customize(resource);
    controller->start();
    world.settle_loop();
  }
  void close() {
    if (controller != nullptr) {
      world.wait(controller->close());
      controller.reset();
    }
  }

  std::string create(std::string text) {
    auto document = json::parse(text);
    CHECK(document.has_value());
    WriteContext context{document->arena, world.env().clock.wall(), "", &warnings};
    resource.strategy->set_defaults(context, document->root);
    resource.strategy->prepare_create(context, document->root);
    FieldErrors errors;
    resource.strategy->validate(context, document->root, errors);
    if (!errors.empty()) {
      return errors.to_error("", "CustomResourceDefinition", "x").message;
    }
    std::string name(document->root.get({"metadata", "name"})->as_string());
    Write write{.op = Write::Op::create,
                .collection = world.id(kDefinitions),
                .name = name,
                .text = json::to_text(document->root)};
    auto written = world.commit(std::move(write));
    // No turn of the loop has passed: established and served are the same moment.
    return written ? served(name) : written.error().message;
  }

  std::string update(const std::string& name, const std::function<void(json::Document&)>& change) {
    ObjectPtr object = get(name);
    auto old = json::parse(object->json());
    auto document = json::parse(object->json());
    change(*document);
    WriteContext context{document->arena, world.env().clock.wall(), "", &warnings};
    resource.strategy->set_defaults(context, document->root);
    resource.strategy->prepare_update(context, document->root, old->root);
    FieldErrors errors;
    resource.strategy->validate(context, document->root, errors);
    resource.strategy->validate_update(context, document->root, old->root, errors);
    if (!errors.empty()) {
      return errors.to_error("", "CustomResourceDefinition", "x").message;
    }
    Write write{.op = Write::Op::update,
                .collection = world.id(kDefinitions),
                .name = name,
                .text = json::to_text(document->root),
                .expected = object->revision()};
    auto written = world.commit(std::move(write));
    return written ? served(name) : written.error().message;
  }

  void remove(const std::string& name) {
    ObjectPtr object = get(name);
    auto document = json::parse(object->json());
    WriteContext context{document->arena, world.env().clock.wall(), "", &warnings};
    document->root.find("metadata")
        ->set(document->arena, "deletionTimestamp",
              json::Value::string_view_of("2026-01-01T00:00:00Z"));
    resource.strategy->begin_delete(context, document->root);
    Write write{.op = Write::Op::update,
                .collection = world.id(kDefinitions),
                .name = name,
                .text = json::to_text(document->root),
                .expected = object->revision()};
    EXPECT_TRUE(world.commit(std::move(write)));
  }

  ObjectPtr get(std::string_view name) {
    return world.store().get(world.id(kDefinitions), "", name);
  }
  std::string served(std::string_view name) {
    ResourcePtr found = registry->find("example.com", name.substr(0, name.find('.')));
    return found == nullptr ? "not served" : "served";
  }
  std::string condition(std::string_view name, std::string_view type) {
    auto document = json::parse(get(name)->json());
    const json::Value* conditions = document->root.get({"status", "conditions"});
    for (const json::Value& entry :
         conditions == nullptr ? std::span<const json::Value>() : conditions->items()) {
      if (entry.string_or_empty("type") == type) {
        return std::string(entry.string_or_empty("status")) + " " +
               std::string(entry.string_or_empty("reason"));
      }
    }
    return "none";
  }

  StoreWorld world;
  std::vector<std::string> warnings;
  std::unique_ptr<Registry> registry;
  std::unique_ptr<CrdController> controller;
  Resource resource;
};

TEST(CrdController, serves_a_definition_in_the_moment_it_is_established) {
  CrdWorld world;
  EXPECT_EQ(world.create(definition("widgets", "Widget")), "served");
  EXPECT_EQ(world.condition("widgets.example.com", "Established"), "True InitialNamesAccepted");
  ResourcePtr resource = world.registry->find_kind("example.com", "v1", "Widget");
  ASSERT_NE(resource, nullptr);
  EXPECT_EQ(resource->singular, "widget");
  EXPECT_EQ(resource->list_kind, "WidgetList");
  EXPECT_EQ(world.registry->find(resource->collection), resource);
}

TEST(CrdController, refuses_what_is_not_valid) {
  CrdWorld world;
  std::string text = definition("widgets", "Widget");
  text.replace(text.find("\"storage\":true"), 14, "\"storage\":false");
  EXPECT_EQ(
      world.create(text),
      R"(CustomResourceDefinition "x" is invalid: spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version)");
}

TEST(CrdController, serves_what_the_store_holds_after_a_restart) {
  CrdWorld world;
  EXPECT_EQ(world.create(definition("widgets", "Widget")), "served");
  world.restart();
  EXPECT_EQ(world.served("widgets.example.com"), "served");
}

TEST(CrdController, an_update_replaces_what_is_served) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  std::uint64_t before = world.registry->generation();
  EXPECT_EQ(world.update("widgets.example.com",
                         [](json::Document& document) {
                           document.root.get({"spec", "names"});
                           json::Value& names = *document.root.find("spec")->find("names");
                           names.set(document.arena, "shortNames",
                                     json::parse(R"(["new"])")->root.clone(document.arena));
                         }),
            "served");
  EXPECT_GT(world.registry->generation(), before);
  EXPECT_EQ(world.registry->find("example.com", "widgets")->short_names,
            std::vector<std::string>{"new"});
  EXPECT_EQ(
      world.update("widgets.example.com",
                   [](json::Document& document) {
                     document.root.find("spec")->set(document.arena, "scope",
                                                     json::Value::string_view_of("Cluster"));
                   }),
      R"(CustomResourceDefinition "x" is invalid: spec.scope: Invalid value: "Cluster": field is immutable)");
}

TEST(CrdController, names_in_use_are_given_to_the_next_when_they_become_free) {
  CrdWorld world;
  EXPECT_EQ(world.create(definition("widgets", "Widget", "w")), "served");
  EXPECT_EQ(world.create(definition("windows", "Window", "w")), "not served");
  EXPECT_EQ(world.condition("windows.example.com", "NamesAccepted"), "False ShortNamesConflict");
  EXPECT_EQ(world.condition("windows.example.com", "Established"), "False NotAccepted");
  world.remove("widgets.example.com");
  world.world.settle_loop();
  EXPECT_EQ(world.served("widgets.example.com"), "not served");
  EXPECT_EQ(world.served("windows.example.com"), "served");
  EXPECT_EQ(world.condition("windows.example.com", "NamesAccepted"), "True NoConflicts");
}

// A widget with a finalizer that nobody takes off by itself.
void create_held(StoreWorld& store, const std::string& name) {
  Write held = store.creation("widgets.example.com", name);
  held.text.replace(held.text.find("\"name\""), 6,
                    "\"finalizers\":[\"example.com/hold\"],\"name\"");
  ASSERT_TRUE(store.commit(std::move(held)));
}

TEST(CrdController, a_definition_goes_after_its_instances) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  StoreWorld& store = world.world;
  store.create("widgets.example.com", "ns/a");
  create_held(store, "ns/b");
  world.remove("widgets.example.com");
  store.settle_loop();
  // One is gone, the other waits for its finalizer; nothing new may be created meanwhile.
  EXPECT_EQ(store.store().size(store.id("widgets.example.com")), 1u);
  EXPECT_EQ(world.condition("widgets.example.com", "Terminating"),
            "True InstanceDeletionInProgress");
  EXPECT_TRUE(world.registry->find("example.com", "widgets")->terminating);
  ObjectPtr waiting = store.store().get(store.id("widgets.example.com"), "ns", "b");
  ASSERT_NE(waiting, nullptr);
  EXPECT_TRUE(waiting->is_being_deleted());
  // A restart in between changes nothing.
  world.restart();
  ASSERT_TRUE(store.commit(store.removal(waiting)));
  store.settle_loop();
  EXPECT_EQ(world.get("widgets.example.com"), nullptr);
  EXPECT_EQ(world.served("widgets.example.com"), "not served");
}

Task<void> write(Store& store, Write change) {
  EXPECT_TRUE((co_await store.commit(std::move(change))).has_value());
}

TEST(CrdController, an_instance_that_is_written_while_it_is_deleted_goes_all_the_same) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  StoreWorld& store = world.world;
  const CollectionId widgets = store.id("widgets.example.com");
  store.create("widgets.example.com", "ns/a");
  store.create("widgets.example.com", "ns/b");
  // In the moment in which `a` goes somebody writes `b`, of which the clean-up has the state
  // before.
  store.store().on_commit([&](CollectionId collection, const Event& event) {
    if (collection == widgets && event.op == Write::Op::remove && event.object->name() == "a") {
      Write change = store.update(store.store().get(widgets, "ns", "b"), "2");
      store.tasks.spawn(write(store.store(), std::move(change)));
    }
  });
  world.remove("widgets.example.com");
  store.settle_loop();
  EXPECT_EQ(store.store().size(widgets), 0u);
  EXPECT_EQ(world.get("widgets.example.com"), nullptr);
}

TEST(CrdController, a_disk_without_room_delays_the_end_of_a_definition_and_no_more) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  StoreWorld& store = world.world;
  const CollectionId widgets = store.id("widgets.example.com");
  const CollectionId definitions = store.id(kDefinitions);
  store.create("widgets.example.com", "ns/a");
  // Once when the instance is to go, and again when the definition is.
  store.store().on_commit([&](CollectionId collection, const Event& event) {
    const bool begun = collection == definitions && event.object->is_being_deleted() &&
                       event.op == Write::Op::update;
    if (begun || (collection == widgets && event.op == Write::Op::remove)) {
      store.disk->fail_appends({.error = resource_exhausted("no room"), .count = 3});
    }
  });
  world.remove("widgets.example.com");
  for (int i = 0; i < 200; ++i) {
    store.settle_loop();
  }
  EXPECT_EQ(store.store().size(widgets), 0u);
  EXPECT_EQ(world.get("widgets.example.com"), nullptr);
  EXPECT_EQ(world.served("widgets.example.com"), "not served");
}

TEST(CrdController, an_instance_that_comes_late_goes_with_the_others) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  StoreWorld& store = world.world;
  const CollectionId widgets = store.id("widgets.example.com");
  create_held(store, "ns/held");
  world.remove("widgets.example.com");
  store.settle_loop();
  store.create("widgets.example.com", "ns/late");
  store.settle_loop();
  EXPECT_EQ(store.store().get(widgets, "ns", "late"), nullptr);
  EXPECT_NE(world.get("widgets.example.com"), nullptr) << "one is still held";
}

TEST(CrdController, what_is_no_longer_served_says_so_to_its_watches) {
  CrdWorld world;
  world.create(definition("widgets", "Widget"));
  const StopToken gone = world.registry->find("example.com", "widgets")->gone;
  world.update("widgets.example.com", [](json::Document& document) {
    document.root.find("spec")->find("names")->set(
        document.arena, "shortNames", json::parse(R"(["new"])")->root.clone(document.arena));
  });
  EXPECT_FALSE(gone.stop_requested()) << "a change of the definition is no end";
  world.remove("widgets.example.com");
  world.world.settle_loop();
  EXPECT_TRUE(gone.stop_requested());
}

}  // namespace
}  // namespace codeflare::apiserver
