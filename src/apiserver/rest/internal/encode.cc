#include "apiserver/rest/internal/encode.h"

#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"

#include <array>

namespace codeflare::apiserver::internal {
namespace {

Result<std::string_view> slice_of(std::string_view text, std::string_view path) {
  const std::array<std::string_view, 1> paths = {path};
  std::array<std::string_view, 1> slices;
  TRY(json::scan(text, paths, slices));
  return slices[0];
}

Bytes part_of(const Bytes& whole, std::string_view part) {
  return whole.slice(static_cast<std::size_t>(part.data() - whole.data()), part.size());
}

Result<Bytes> converted(const Output& output, const Bytes& text) {
  TRY_ASSIGN(json::Document document, json::parse_in_place(text.view()));
  TRY(convert(*output.resource, document.arena, document.root,
              output.resource->api_version(*output.version)));
  return Bytes::from(json::to_text(document.root));
}

}  // namespace

Result<void> convert(const Resource& resource, json::Arena& arena, json::Value& object,
                     std::string_view to) {
  const std::string from(object.string_or_empty("apiVersion"));
  if (from == to) {
    return {};
  }
  object.set_static(arena, "apiVersion", json::Value::string(arena, to));
  if (resource.convert) {
    return resource.convert(arena, object, from, to);
  }
  return {};
}

Result<void> append_partial(const Form& form, const Bytes& text, std::vector<Bytes>& pieces) {
  TRY_ASSIGN(std::string_view metadata, slice_of(text.view(), "metadata"));
  pieces.push_back(Bytes::from_static(
      form.meta_version == "v1"
          ? R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
          : R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":)"));
  pieces.push_back(metadata.empty() ? Bytes::from_static("{}") : part_of(text, metadata));
  pieces.push_back(Bytes::from_static("}"));
  return {};
}

Result<void> append_object(const Output& output, const Bytes& text, std::vector<Bytes>& pieces) {
  if (output.form.view == View::partial) {
    return append_partial(output.form, text, pieces);
  }
  TRY_ASSIGN(std::string_view version, slice_of(text.view(), "apiVersion"));
  if (version.size() > 2 && output.shows(version.substr(1, version.size() - 2))) {
    pieces.push_back(text);
    return {};
  }
  TRY_ASSIGN(Bytes bytes, converted(output, text));
  pieces.push_back(std::move(bytes));
  return {};
}

Result<void> append_object(const Output& output, const Object& object, std::vector<Bytes>& pieces) {
  if (output.form.view == View::partial || !output.shows(object.api_version())) {
    return append_object(output, object.text(), pieces);
  }
  pieces.push_back(object.text());
  return {};
}

Result<void> append_object(const Output& output, const ObjectPtr& object, EncodingCache& cache,
                           std::vector<Bytes>& pieces) {
  if (output.form.view == View::partial || output.shows(object->api_version())) {
    return append_object(output, *object, pieces);
  }
  const std::string form = output.resource->api_version(*output.version);
  if (const Bytes* known = cache.find(object, form)) {
    pieces.push_back(*known);
    return {};
  }
  TRY_ASSIGN(Bytes bytes, converted(output, object->text()));
  cache.add(object, form, bytes);
  pieces.push_back(std::move(bytes));
  return {};
}

std::string join(const std::vector<Bytes>& pieces) {
  std::string out;
  for (const Bytes& piece : pieces) {
    out.append(piece.view());
  }
  return out;
}

Result<void> append_with_revision(const Bytes& text, Revision revision,
                                  std::vector<Bytes>& pieces) {
  TRY_ASSIGN(std::string_view slice, slice_of(text.view(), "metadata.resourceVersion"));
  if (slice.empty()) {
    pieces.push_back(text);
    return {};
  }
  const auto offset = static_cast<std::size_t>(slice.data() - text.data());
  pieces.push_back(text.slice(0, offset));
  pieces.push_back(Bytes::from("\"" + std::to_string(revision) + "\""));
  pieces.push_back(text.slice(offset + slice.size()));
  return {};
}

}  // namespace codeflare::apiserver::internal
