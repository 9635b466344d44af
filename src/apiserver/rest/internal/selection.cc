#include "apiserver/rest/internal/selection.h"

#include "apiserver/rest/internal/errors.h"
#include "json/parse.h"
#include "json/scan.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver::internal {
namespace {

Error unknown_field(const Resource& resource, const ServedVersion& version,
                    std::string_view field) {
  if (resource.custom || !version.selectable_fields.empty()) {
    return bad_request("field label not supported: " + std::string(field));
  }
  return bad_request("\"" + std::string(field) +
                     "\" is not a known field selector: only \"metadata.name\", "
                     "\"metadata.namespace\"");
}

}  // namespace

Result<Selection> Selection::parse(const RequestInfo& info, const Resource& resource,
                                   const ServedVersion& version) {
  Selection selection;
  selection.ns_ = resource.namespaced ? info.ns : std::string();
  Result<model::Selector> labels =
      model::Selector::parse(info.query.get("labelSelector").value_or(""));
  if (!labels) {
    return fail(bad_request(labels.error().message));
  }
  selection.labels_ = *std::move(labels);
  Result<model::FieldSelector> fields =
      model::FieldSelector::parse(info.query.get("fieldSelector").value_or(""));
  if (!fields) {
    return fail(bad_request(fields.error().message));
  }
  for (const model::FieldSelector::Term& term : fields->terms()) {
    Field field{.value = term.value, .negated = term.negated};
    if (term.field == "metadata.name") {
      field.source = Field::Source::name;
    } else if (term.field == "metadata.namespace") {
      field.source = Field::Source::ns;
    } else {
      auto known = std::ranges::find(version.selectable_fields, term.field, &SelectableField::name);
      if (known == version.selectable_fields.end()) {
        return fail(unknown_field(resource, version, term.field));
      }
      field.path = known->path.empty() ? known->name : known->path;
      field.absent = known->absent;
    }
    selection.fields_.push_back(std::move(field));
  }
  // The old /watch/ prefix may name one object.
  if (info.verb == "watch" && !info.name.empty() && !fields->exact_value("metadata.name")) {
    selection.fields_.push_back({.source = Field::Source::name, .path{}, .value = info.name});
  }
  return selection;
}

bool Selection::field_matches(const Object& object, const Field& field) const {
  if (field.source != Field::Source::text) {
    const std::string_view text = field.source == Field::Source::name ? object.name() : object.ns();
    return (text == field.value) != field.negated;
  }
  const std::array<std::string_view, 1> paths = {field.path};
  std::array<std::string_view, 1> slices;
  if (!json::scan(object.json(), paths, slices)) {
    return false;
  }
  const std::string_view raw = slices[0];
  if (raw.empty() || raw == "null") {
    return (field.absent == field.value) != field.negated;
  }
  if (raw.front() != '"') {
    return (raw == field.value) != field.negated;
  }
  json::Arena arena;
  Result<std::string_view> text = json::unquote(raw, arena);
  return text && (*text == field.value) != field.negated;
}

bool Selection::matches(const Object& object) const {
  if (!ns_.empty() && object.ns() != ns_) {
    return false;
  }
  for (const Field& field : fields_) {
    if (!field_matches(object, field)) {
      return false;
    }
  }
  if (labels_.selects_everything()) {
    return true;
  }
  if (object.labels().empty()) {
    return labels_.matches(nullptr);
  }
  Result<json::Document> parsed = json::parse_in_place(object.labels());
  return parsed && labels_.matches(&parsed->root);
}

}  // namespace codeflare::apiserver::internal
