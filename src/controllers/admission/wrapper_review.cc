#include "controllers/admission/wrapper_review.h"

#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "queue/demand.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>

namespace codeflare::admission {

namespace {

// All else in the spec stays as it was submitted: the items were judged once.
constexpr std::array<std::string_view, 2> kChangeable = {"priority", "suspend"};

std::string record_of(const Requester& requester) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("username", requester.username).member_if_set("uid", requester.uid);
  writer.key("groups").begin_array();
  for (const std::string& group : requester.groups) {
    writer.string(group);
  }
  writer.end_array().end_object();
  return text;
}

const json::Value* recorded(const json::Value& object) {
  const json::Value* annotations = object.get({"metadata", "annotations"});
  const json::Value* record =
      annotations == nullptr ? nullptr : annotations->find(queue::kUserAnnotation);
  return record != nullptr && record->is_string() ? record : nullptr;
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

// The first thing in `now` that may not differ from `old`; empty when there is none.
std::string changed_member(const json::Value* now, const json::Value* old) {
  static const json::Value kNothing = json::Value::object();
  now = now == nullptr ? &kNothing : now;
  old = old == nullptr ? &kNothing : old;
  const auto differs = [](const json::Value& a, const json::Value& b, std::string_view key) {
    const json::Value* x = a.find(key);
    const json::Value* y = b.find(key);
    return x == nullptr || y == nullptr ? x != y : !json::equal(*x, *y);
  };
  for (const auto& [a, b] : {std::pair(now, old), std::pair(old, now)}) {
    for (const json::Member& member : a->members()) {
      if (std::ranges::find(kChangeable, member.key) == kChangeable.end() &&
          differs(*a, *b, member.key)) {
        return "spec." + std::string(member.key);
      }
    }
  }
  return {};
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

Verdict review_new(const json::Value& object, const Requester& requester) {
  Verdict verdict;
  const json::Value* record = recorded(object);
  if (record == nullptr || record->as_string() != record_of(requester)) {
    verdict.problems.push_back("metadata.annotations[" + std::string(queue::kUserAnnotation) +
                               "]: is set by admission alone");
  }
  Result<model::AppWrapper> wrapper = decode(object);
  if (!wrapper) {
    verdict.problems.push_back(wrapper.error().message);
    return verdict;
  }
  std::ranges::move(queue::problems_of(*wrapper), std::back_inserter(verdict.problems));
  if (!verdict.problems.empty()) {
    return verdict;
  }
  const Result<queue::Demand> demand = queue::demand_of(*wrapper);
  if (!demand) {
    verdict.problems.push_back(demand.error().message);
    return verdict;
  }
  for (std::size_t i = 0; i < demand->items.size(); ++i) {
    const queue::ItemInfo& item = demand->items[i];
    auto [group, version] = group_and_version(item.api_version);
    verdict.questions.push_back(
        {.group = std::move(group),
         .version = std::move(version),
         .kind = item.kind,
         .ns = item.key.ns,
         .name = item.key.name,
         .field = "spec.resources.GenericItems[" + std::to_string(i) + "]"});
  }
  return verdict;
}

}  // namespace

void record_submitter(json::Arena& arena, json::Value& object, const json::Value* old,
                      const Requester& requester) {
  json::Value& metadata = object_member(arena, object, "metadata");
  const json::Value* before = old == nullptr ? nullptr : recorded(*old);
  if (old == nullptr) {
    object_member(arena, metadata, "annotations")
        .set(arena, queue::kUserAnnotation, json::Value::string(arena, record_of(requester)));
    add_finalizer(arena, metadata);
  } else if (before != nullptr) {
    object_member(arena, metadata, "annotations")
        .set(arena, queue::kUserAnnotation, before->clone(arena));
  } else if (json::Value* annotations = metadata.find("annotations")) {
    annotations->erase(queue::kUserAnnotation);
  }
}

Verdict review(const json::Value& object, const json::Value* old, const Requester& requester) {
  if (old == nullptr) {
    return review_new(object, requester);
  }
  Verdict verdict;
  const json::Value* now = recorded(object);
  const json::Value* before = recorded(*old);
  if (now == nullptr || before == nullptr ? now != before : !json::equal(*now, *before)) {
    verdict.problems.push_back("metadata.annotations[" + std::string(queue::kUserAnnotation) +
                               "]: may not be changed");
  }
  if (std::string changed = changed_member(object.find("spec"), old->find("spec"));
      !changed.empty()) {
    verdict.problems.push_back(changed +
                               ": may not be changed; only spec.priority and spec.suspend may. "
                               "Delete the AppWrapper and create it again");
  }
  return verdict;
}

std::string refusal(const Question& question, std::string_view resource,
                    const Requester& requester) {
  std::string text = "user \"" + requester.username + "\" may not create ";
  text += resource.empty() ? question.kind + " (a kind that this server does not know)"
                           : std::string(resource);
  text += " in namespace \"" + question.ns + "\" (" + question.field + ")";
  return text;
}

std::string joined(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) {
    text += text.empty() ? problem : "; " + problem;
  }
  return text;
}

std::string outside(const Question& question, std::string_view resource) {
  return question.field + ": " + std::string(resource) +
         " belong to no namespace; an AppWrapper holds objects of its own namespace only";
}

}  // namespace codeflare::admission
