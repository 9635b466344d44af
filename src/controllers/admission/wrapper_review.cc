#include "controllers/admission/wrapper_review.h"

#include "controllers/admission/fixed_spec.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "queue/demand.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace codeflare::admission {

namespace {

// Nobody but admission writes these.
constexpr std::array<std::string_view, 3> kOurAnnotations = {
    queue::kUserAnnotation, controllers::kSealAnnotation, queue::kTimeAnnotation};

const json::Value* annotation(const json::Value& object, std::string_view name) {
  const json::Value* annotations = object.get({"metadata", "annotations"});
  const json::Value* text = annotations == nullptr ? nullptr : annotations->find(name);
  return text != nullptr && text->is_string() ? text : nullptr;
}

bool holds_something(const json::Value& object) {
  const json::Value* plan = object.get({"status", "plan"});
  return plan != nullptr && plan->is_object();
}

bool is_deleting(const json::Value& object) {
  const json::Value* since = object.get({"metadata", "deletionTimestamp"});
  return since != nullptr && since->is_string();
}

json::Value& object_member(json::Arena& arena, json::Value& parent, std::string_view key) {
  json::Value* member = parent.find(key);
  return member != nullptr && member->is_object() ? *member
                                                  : parent.set(arena, key, json::Value::object());
}

void add_finalizer(json::Arena& arena, json::Value& metadata) {
  json::Value* list = metadata.find("finalizers");
  if (list == nullptr || !list->is_array()) {
    list = &metadata.set(arena, "finalizers", json::Value::array());
  }
  const bool there = std::ranges::any_of(list->items(), [](const json::Value& item) {
    return item.is_string() && item.as_string() == queue::kFinalizer;
  });
  if (!there) {
    list->push_back(arena, json::Value::string_view_of(queue::kFinalizer));
  }
}

// Keys of labels that differ, of those that can name a quota tree: without a slash.
std::vector<std::string> changed_labels(const json::Value& object, const json::Value& old) {
  static const json::Value kNothing = json::Value::object();
  const json::Value* now = object.get({"metadata", "labels"});
  const json::Value* before = old.get({"metadata", "labels"});
  now = now == nullptr ? &kNothing : now;
  before = before == nullptr ? &kNothing : before;
  std::set<std::string> changed;
  for (const auto& [a, b] : {std::pair(now, before), std::pair(before, now)}) {
    for (const json::Member& label : a->members()) {
      const json::Value* other = b->find(label.key);
      if (!label.key.contains('/') && (other == nullptr || !json::equal(label.value, *other))) {
        changed.emplace(label.key);
      }
    }
  }
  return {changed.begin(), changed.end()};
}

// "batch/v1" apart; the core group has no name.
std::pair<std::string, std::string> group_and_version(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos
             ? std::pair(std::string(), api_version)
             : std::pair(api_version.substr(0, slash), api_version.substr(slash + 1));
}

// Whichever of the two groups the object is of.
Result<model::AppWrapper> decode(const json::Value& object) {
  const std::string_view group = object.string_or_empty("apiVersion");
  if (group.starts_with(model::kLegacyAppWrapperGroup)) {
    return model::from_json<model::LegacyAppWrapper>(object);
  }
  return model::from_json<model::AppWrapper>(object);
}

// Many objects of one kind are one question.
void ask(std::vector<Question>& questions, Question question) {
  const bool asked = std::ranges::any_of(questions, [&](const Question& other) {
    return other.group == question.group && other.version == question.version &&
           other.kind == question.kind && other.ns == question.ns;
  });
  if (!asked) {
    questions.push_back(std::move(question));
  }
}

// The rights that its items take, as far as their kinds can be read.
void ask_for_items(const json::Value& object, std::vector<Question>& questions) {
  const json::Value* metadata = object.find("metadata");
  for (const WrappedObject& item : wrapped_objects(object)) {
    const std::string api_version(item.value->string_or_empty("apiVersion"));
    const std::string_view kind = item.value->string_or_empty("kind");
    if (api_version.empty() || kind.empty()) {
      continue;
    }
    auto [group, version] = group_and_version(api_version);
    ask(questions, {.group = std::move(group),
                    .version = std::move(version),
                    .kind = std::string(kind),
                    .ns = std::string(metadata == nullptr ? std::string_view()
                                                          : metadata->string_or_empty("namespace")),
                    .field = item.field});
  }
}

Verdict review_new(const json::Value& object, const Requester& requester,
                   const SubmitterTrust& trust) {
  Verdict verdict;
  const std::string place = "metadata.annotations[" + std::string(queue::kUserAnnotation) + "]: ";
  const json::Value* record = annotation(object, queue::kUserAnnotation);
  if (record == nullptr || record->as_string() != controllers::record_of(requester)) {
    verdict.problems.push_back(place + "can be set by admission only");
  }
  ask_for_items(object, verdict.questions);
  Result<model::AppWrapper> wrapper = decode(object);
  if (!wrapper) {
    verdict.problems.push_back(wrapper.error().message);
    return verdict;
  }
  std::ranges::move(queue::problems_of(*wrapper), std::back_inserter(verdict.problems));
  // Only now: before, whatever is wrong with the object has its own words.
  if (verdict.problems.empty() && !controllers::submitter_of(*wrapper, trust)) {
    verdict.problems.push_back(place +
                               "another webhook changed the items after the record was written");
  }
  return verdict;
}

void write_record(json::Arena& arena, json::Value& object, const Requester& requester, WallTime now,
                  const SubmitterTrust& trust) {
  json::Value& metadata = object_member(arena, object, "metadata");
  json::Value& annotations = object_member(arena, metadata, "annotations");
  const std::string record = controllers::record_of(requester);
  annotations.set(arena, queue::kUserAnnotation, json::Value::string(arena, record));
  // Not sealed: it decides no more than the order within the second of creationTimestamp.
  annotations.set(arena, queue::kTimeAnnotation, json::Value::string(arena, to_rfc3339(now, 6)));
  annotations.erase(controllers::kSealAnnotation);
  if (trust.seal == nullptr) {
    return;
  }
  // Unreadable objects are rejected later, with the reason.
  if (const Result<model::AppWrapper> wrapper = decode(object)) {
    const std::string seal = controllers::seal_of(*wrapper, record, *trust.seal);
    annotations.set(arena, controllers::kSealAnnotation, json::Value::string(arena, seal));
  }
}

void keep_record(json::Arena& arena, json::Value& metadata, const json::Value& old) {
  for (const std::string_view name : kOurAnnotations) {
    if (const json::Value* before = annotation(old, name)) {
      object_member(arena, metadata, "annotations").set(arena, name, before->clone(arena));
    } else if (json::Value* annotations = metadata.find("annotations")) {
      annotations->erase(name);
    }
  }
}

}  // namespace

void record_submitter(json::Arena& arena, json::Value& object, const json::Value* old,
                      const Requester& requester, WallTime now, const SubmitterTrust& trust) {
  if (old == nullptr) {
    write_record(arena, object, requester, now, trust);
    add_finalizer(arena, object_member(arena, object, "metadata"));
    return;
  }
  json::Value& metadata = object_member(arena, object, "metadata");
  keep_record(arena, metadata, *old);
  // Without it a deletion would free quota that pods still use.
  if (holds_something(*old) && !is_deleting(*old)) {
    add_finalizer(arena, metadata);
  }
}

Verdict review(const json::Value& object, const json::Value* old, const Requester& requester,
               const SubmitterTrust& trust) {
  if (old == nullptr) {
    return review_new(object, requester, trust);
  }
  Verdict verdict;
  for (const std::string_view name : kOurAnnotations) {
    const json::Value* now = annotation(object, name);
    const json::Value* before = annotation(*old, name);
    if (now == nullptr || before == nullptr ? now != before : !json::equal(*now, *before)) {
      verdict.problems.push_back("metadata.annotations[" + std::string(name) +
                                 "]: cannot be changed");
    }
  }
  for (std::string& change : spec_changes(object, *old)) {
    verdict.problems.push_back(std::move(change));
  }
  if (holds_something(*old)) {
    verdict.labels = changed_labels(object, *old);
  }
  return verdict;
}

std::vector<WrappedObject> wrapped_objects(const json::Value& object) {
  std::vector<WrappedObject> found;
  const json::Value* items = object.get({"spec", "resources", "GenericItems"});
  for (std::size_t i = 0; items != nullptr && i < items->items().size(); ++i) {
    const json::Value* value = items->items()[i].find("generictemplate");
    if (value != nullptr && value->is_object()) {
      found.push_back({value, "spec.resources.GenericItems[" + std::to_string(i) + "]"});
    }
  }
  return found;
}

std::vector<WrappedObject> objects_to_create(const json::Value& object) {
  std::vector<WrappedObject> items = wrapped_objects(object);
  const Result<model::AppWrapper> wrapper = decode(object);
  if (!wrapper) {
    return items;
  }
  const Result<queue::Demand> demand = queue::demand_of(*wrapper);
  if (!demand || demand->items.size() != items.size()) {
    return items;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Result<std::string> text = queue::instrumented_item(*wrapper, *demand, i, {});
    Result<json::Document> document = text ? json::parse(*text) : fail(text.error());
    if (!document) {
      continue;
    }
    if (json::Value* metadata = document->root.find("metadata")) {
      metadata->erase("ownerReferences");
    }
    items[i].made = std::make_shared<const json::Document>(*std::move(document));
    items[i].value = &items[i].made->root;
  }
  return items;
}

std::vector<std::string> merged(std::vector<std::string> ours, std::vector<std::string> servers) {
  const auto field_of = [](std::string_view problem) {
    return problem.substr(0, problem.find(": "));
  };
  // A sentence about a whole object says no more than ours about its fields.
  std::erase_if(servers, [&](const std::string& other) {
    return field_of(other).ends_with(".generictemplate") &&
           std::ranges::any_of(ours, [&](const std::string& own) {
             return own.starts_with(std::string(field_of(other)) + ".");
           });
  });
  std::erase_if(ours, [&](const std::string& own) {
    return !own.contains("did you mean") &&
           std::ranges::any_of(servers, [&](const std::string& other) {
             return field_of(own).starts_with(field_of(other)) ||
                    field_of(other).starts_with(field_of(own));
           });
  });
  std::ranges::move(servers, std::back_inserter(ours));
  return ours;
}

std::string not_served(const Question& question) {
  const std::string version =
      question.group.empty() ? question.version : question.group + "/" + question.version;
  return question.field + ".generictemplate.kind: this server has no kind " + question.kind +
         " in " + version + ": install its definition first, or correct kind and apiVersion";
}

std::string refusal(const Question& question, std::string_view resource,
                    const Requester& requester) {
  std::string text = question.field + ": user \"" + requester.username + "\" cannot create ";
  text += resource.empty() ? question.kind + " (a kind that this server does not serve)"
                           : std::string(resource);
  return text + " in namespace \"" + question.ns + "\"";
}

std::string joined(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) {
    text += text.empty() ? problem : "; " + problem;
  }
  return text;
}

std::string charged(std::string_view label) {
  return "metadata.labels[" + std::string(label) +
         "]: cannot be changed while the AppWrapper runs: its resources are charged to a node of "
         "this quota tree. Set spec.suspend first";
}

std::string outside(const Question& question, std::string_view resource) {
  return question.field + ": " + std::string(resource) +
         " are cluster-scoped; an AppWrapper can only wrap objects of its own namespace";
}

}  // namespace codeflare::admission
