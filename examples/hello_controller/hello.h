#pragma once

// Keeps a ConfigMap with a greeting beside every Greeting, and says so in the Greeting's status.

#include "json/write.h"
#include "runtime/manager.h"
#include "runtime/owner_reference.h"

namespace hello {

using namespace codeflare;
using namespace codeflare::runtime;

inline const ResourceType kGreetings{"examples.codeflare.dev", "v1", "Greeting", "greetings", true};
inline const ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};

// Everything a decision needs, read from the caches.
struct Observed {
  ObjectRef greeting;
  ObjectRef config_map;  // null when there is none
};

struct Desired {
  std::string text;
};

class Hello final : public StoryReconciler<Observed, Desired> {
 public:
  explicit Hello(const ControllerContext& context)
      : StoryReconciler(context.env, context.actor),
        greetings_(context.subject.store()),
        config_maps_(context.cache.informer(kConfigMaps).store()) {}

  std::optional<Observed> observe(const ObjectKey& key) const override {
    ObjectRef greeting = greetings_.get(key);
    if (greeting == nullptr || greeting->deleting()) {
      return std::nullopt;  // the ConfigMap goes with its owner (else: runtime/finalizer.h)
    }
    return Observed{greeting, config_maps_.get(key)};
  }

  Desired desired(const Observed& observed, WallTime /*now*/) const override {
    return {"Hello, " + observed.greeting->string_at({"spec", "name"}) + "!"};
  }

  Plan diff(const Observed& observed, const Desired& desired) const override {
    Plan plan;
    const kube::Object& greeting = *observed.greeting;
    std::string body;
    if (!observed.config_map || observed.config_map->string_at({"data", "text"}) != desired.text) {
      json::Writer w(body);
      w.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap").key("metadata");
      w.begin_object().member("name", greeting.name()).key("ownerReferences");
      w.raw(controlled_by(kGreetings, greeting)).end_object();
      w.key("data").begin_object().member("text", desired.text).end_object().end_object();
      plan.actions.push_back(Action{.verb = Action::Verb::apply,
                                    .type = kConfigMaps,
                                    .key = greeting.key(),
                                    .body = body,
                                    .why = "the greeting is missing or says something else",
                                    // Another writer's value there is overruled.
                                    .write = {.force = true}});
    }
    if (greeting.string_at({"status", "message"}) != desired.text) {
      body = R"({"status":{"message":)";
      json::append_quoted(body, desired.text);
      plan.actions.push_back(Action{.verb = Action::Verb::patch,
                                    .type = kGreetings,
                                    .key = greeting.key(),
                                    .body = body + "}}",
                                    .why = "the status is behind",
                                    .write = {.subresource = "status"}});
      plan.events.push_back({.reason = "Greeted", .message = desired.text});
    }
    return plan;
  }

 private:
  const Store& greetings_;
  const Store& config_maps_;
};

}  // namespace hello
