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

// Lays out the text as it is kept, and behind it those of the strings that do not lie in it (all
// when it is packed, otherwise those with escapes), in one block.
class Object::Builder {
 public:
  Builder(std::string_view stored, const json::ObjectHead& head) : stored_(stored), head_(head) {}

  void build(Object& object) {
    std::size_t extra = 0;
    for (std::string_view view : {head_.api_version, head_.kind, head_.ns, head_.name, head_.uid,
                                  head_.rv, head_.labels, head_.owner_references}) {
      extra += lies_in(view, stored_) ? 0 : view.size();
    }
    object.bytes_ = std::make_unique_for_overwrite<char[]>(stored_.size() + extra);
    object.stored_size_ = static_cast<std::uint32_t>(stored_.size());
    object.extra_size_ = static_cast<std::uint32_t>(extra);
    std::memcpy(object.bytes_.get(), stored_.data(), stored_.size());
    begin_ = object.bytes_.get();
    end_ = begin_ + stored_.size();
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
    if (lies_in(view, stored_)) {
      return {static_cast<std::uint32_t>(view.data() - stored_.data()), length};
    }
    std::memcpy(end_, view.data(), view.size());
    const Slice slice{static_cast<std::uint32_t>(end_ - begin_), length};
    end_ += view.size();
    return slice;
  }

  std::string_view stored_;
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
  object->text_size_ = static_cast<std::uint32_t>(text.size());
  return object;
}

ObjectRef Object::packed(ObjectRef object, const std::shared_ptr<TextSample>& sample) {
  const std::string bytes = sample->pack(object->text());
  json::ObjectHead head;
  head.api_version = object->api_version();
  head.kind = object->kind();
  head.ns = object->ns();
  head.name = object->name();
  head.uid = object->uid();
  head.rv = object->resource_version();
  head.labels = object->labels_json();
  head.owner_references = object->owner_references_json();
  auto small = std::make_shared<Object>(Passkey());
  Builder(bytes, head).build(*small);
  if (small->memory_bytes() >= object->memory_bytes()) {
    return object;
  }
  small->generation_ = object->generation_;
  small->deleting_ = object->deleting_;
  small->text_size_ = object->text_size_;
  small->sample_ = sample;
  return small;
}

std::string Object::text() const {
  const std::string_view stored(bytes_.get(), stored_size_);
  return sample_ == nullptr ? std::string(stored) : sample_->unpack(stored, text_size_);
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
  const std::string whole = text();
  Result<json::Document> tree = json::parse_in_place(whole);
  const json::Value* value = tree ? tree->root.get(path) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

Result<json::Document> Object::parse() const {
  return json::parse(text());
}

std::size_t Object::memory_bytes() const {
  // The control block of the shared pointer sits in front of the object.
  return sizeof(Object) + 2 * sizeof(void*) + stored_size_ + extra_size_;
}

}  // namespace codeflare::kube
