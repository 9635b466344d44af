#include "controllers/apps/set_revision.h"

#include "controllers/apps/template_hash.h"
#include "json/write.h"
#include "model/codec/meta.h"
#include "model/codec/pod.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

constexpr std::size_t kPrefixMax = 223;  // of a name of 253 letters

// Said in the data for the sake of strategic merge; no part of the template.
void drop_directive(model::Extra& extra) {
  std::erase_if(extra.members,
                [](const model::Extra::Member& member) { return member.key == "$patch"; });
}

}  // namespace

const model::ResourceType& revision_type() {
  static const model::ResourceType kType{"apps", "v1", "ControllerRevision", "controllerrevisions",
                                         true};
  return kType;
}

std::optional<SetRevision> revision_of(const kube::Object& object) {
  const Result<json::Document> document = object.parse();
  if (!document) {
    return std::nullopt;
  }
  const json::Value* data = document->root.get({"data", "spec", "template"});
  if (data == nullptr) {
    return std::nullopt;
  }
  Result<model::PodTemplateSpec> made = model::from_json<model::PodTemplateSpec>(*data);
  if (!made) {
    return std::nullopt;
  }
  drop_directive(made->extra);
  const json::Value* number = document->root.find("revision");
  return SetRevision{.name = std::string(object.name()),
                     .uid = std::string(object.uid()),
                     .number = number == nullptr ? 0 : number->to_int64().value_or(0),
                     .pod_template = *std::move(made)};
}

std::string revision_body(const SetRevision& revision, const std::string& set_name,
                          const model::OwnerReference& owner) {
  model::PodTemplateSpec data = revision.pod_template;
  data.extra.members.push_back({.key = "$patch", .value = {.text = "\"replace\""}});
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", revision_type().api_version());
  w.member("kind", revision_type().kind);
  w.key("metadata").begin_object().member("name", revision.name);
  w.key("labels").begin_object();
  for (const auto& [key, value] : revision.pod_template.metadata.labels) {
    if (key != kRevisionHashLabel) {
      w.member(key, value);
    }
  }
  const std::size_t prefix = std::min(set_name.size(), kPrefixMax) + 1;
  w.member(kRevisionHashLabel, std::string_view(revision.name).substr(prefix)).end_object();
  w.key("ownerReferences").begin_array().raw(model::to_json_text(owner)).end_array().end_object();
  w.key("data").begin_object().key("spec").begin_object();
  w.key("template").raw(model::to_json_text(data)).end_object().end_object();
  w.key("revision").integer(revision.number).end_object();
  return body;
}

Revisions find_revisions(const std::string& set_name, const model::PodTemplateSpec& now,
                         const std::vector<SetRevision>& known, std::string_view current_name,
                         std::int32_t collisions) {
  Revisions found{.collisions = collisions};
  std::int64_t highest = 0;
  const SetRevision* equal = nullptr;
  for (const SetRevision& revision : known) {
    highest = std::max(highest, revision.number);
    if (revision.pod_template == now && (equal == nullptr || equal->number < revision.number)) {
      equal = &revision;
    }
  }
  if (equal != nullptr) {
    found.update = *equal;
    found.renumber = equal->number < highest;
    found.update.number = found.renumber ? highest + 1 : equal->number;
  } else {
    found.create = true;
    const auto name_with = [&](std::int32_t count) {
      return set_name.substr(0, kPrefixMax) + "-" + template_hash(now, count);
    };
    std::string name = name_with(found.collisions);
    while (std::ranges::find(known, name, &SetRevision::name) != known.end()) {
      name = name_with(++found.collisions);
    }
    found.update = {.name = std::move(name), .uid = {}, .number = highest + 1, .pod_template = now};
  }
  const auto current = std::ranges::find(known, current_name, &SetRevision::name);
  found.current = current == known.end() ? found.update : *current;
  return found;
}

}  // namespace codeflare::controllers::apps
