#include "kube/object.h"

#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string>

namespace codeflare::kube {

namespace {

// A view either lies in the scanned text or is a decoded string elsewhere.
bool lies_in(std::string_view part, std::string_view text) {
  const std::less_equal<const char*> le;
  return le(text.data(), part.data()) && le(part.data() + part.size(), text.data() + text.size());
}

}  // namespace

// Lays out the text, and behind it the strings whose text has escapes, in one block.
class Object::Builder {
 public:
  Builder(std::string_view text, const json::ObjectHead& head) : text_(text), head_(head) {}

  void build(Object& object) {
    std::size_t extra = 0;
    for (std::string_view view : {head_.api_version, head_.kind, head_.ns, head_.name, head_.uid,
                                  head_.rv, head_.labels, head_.owner_references}) {
      extra += lies_in(view, text_) ? 0 : view.size();
    }
    object.text_ = std::make_unique_for_overwrite<char[]>(text_.size() + extra);
    object.size_ = static_cast<std::uint32_t>(text_.size());
    object.extra_size_ = static_cast<std::uint32_t>(extra);
    std::memcpy(object.text_.get(), text_.data(), text_.size());
    end_ = object.text_.get() + text_.size();
    begin_ = object.text_.get();
    object.api_version_ = place(head_.api_version);
    object.kind_ = place(head_.kind);
    object.ns_ = place(head_.ns);
    object.name_ = place(head_.name);
    object.uid_ = place(head_.uid);
    object.resource_version_ = place(head_.rv);
    object.labels_ = place(head_.labels);
    object.owners_ = place(head_.owner_references);
    object.generation_ = head_.generation;
    object.deleting_ = !head_.deletion_timestamp.empty();
  }

 private:
  Slice place(std::string_view view) {
    const auto length = static_cast<std::uint32_t>(view.size());
    if (view.empty()) {
      return {};
    }
    if (lies_in(view, text_)) {
      return {static_cast<std::uint32_t>(view.data() - text_.data()), length};
    }
    std::memcpy(end_, view.data(), view.size());
    const Slice slice{static_cast<std::uint32_t>(end_ - begin_), length};
    end_ += view.size();
    return slice;
  }

  std::string_view text_;
  const json::ObjectHead& head_;
  char* begin_ = nullptr;
  char* end_ = nullptr;
};

Object::Object(Passkey) {}
Object::~Object() = default;

Result<ObjectRef> Object::from_json(std::string_view text) {
  // Decoded strings are shorter than their escaped text, so twice the text is room for all.
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
    return fail(too_large("an object of " + std::to_string(text.size()) + " bytes"));
  }
  TRY_ASSIGN(const json::ObjectHead head, json::scan_object_head(text));
  if (head.name.empty()) {
    return fail(invalid_argument("the JSON object has no metadata.name"));
  }
  auto object = std::make_shared<Object>(Passkey());
  Builder(text, head).build(*object);
  return object;
}

Result<ObjectRef> Object::from_value(const json::Value& value) {
  return from_json(json::to_text(value));
}

std::uint64_t to_revision(std::string_view resource_version) {
  const char* last = resource_version.data() + resource_version.size();
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(resource_version.data(), last, value);
  return error == std::errc() && end == last ? value : 0;
}

std::string Object::string_at(std::initializer_list<std::string_view> path) const {
  Result<json::Document> tree = json::parse_in_place(text());
  const json::Value* value = tree ? tree->root.get(path) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

Result<json::Document> Object::parse() const {
  return json::parse(text());
}

std::size_t Object::memory_bytes() const {
  // The control block of the shared pointer sits in front of the object.
  return sizeof(Object) + 2 * sizeof(void*) + size_ + extra_size_;
}

}  // namespace codeflare::kube
