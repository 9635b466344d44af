#include "apiserver/store/object.h"

#include "json/scan.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

enum Path : std::size_t {
  kApiVersion,
  kMetadata,
  kName,
  kNamespace,
  kUid,
  kResourceVersion,
  kGeneration,
  kDeletionTimestamp,
  kLabels,
  kOwnerReferences,
  kPathCount,
};
constexpr std::array<std::string_view, kPathCount> kPaths = {
    "apiVersion",          "metadata",
    "metadata.name",       "metadata.namespace",
    "metadata.uid",        "metadata.resourceVersion",
    "metadata.generation", "metadata.deletionTimestamp",
    "metadata.labels",     "metadata.ownerReferences"};
using Slices = std::array<std::string_view, kPathCount>;

// The room behind the object, in the block that std::allocate_shared takes for it.
struct Tail {
  std::size_t size = 0;
  char* data = nullptr;
};

template <typename T>
struct TailAllocator {
  using value_type = T;

  explicit TailAllocator(Tail* tail_in) : tail(tail_in) {}
  template <typename U>
  TailAllocator(const TailAllocator<U>& other) : tail(other.tail) {}

  T* allocate(std::size_t count) {
    char* block = static_cast<char*>(::operator new(count * sizeof(T) + tail->size));
    tail->data = block + count * sizeof(T);
    return reinterpret_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) { ::operator delete(block); }
  friend bool operator==(const TailAllocator&, const TailAllocator&) = default;

  Tail* tail;  // not looked at after allocate()
};

bool is_null(std::string_view raw) {
  return raw.empty() || raw == "null";
}

Result<std::int64_t> read_generation(std::string_view raw) {
  std::int64_t value = 0;
  if (is_null(raw)) {
    return value;
  }
  auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (error != std::errc() || end != raw.data() + raw.size()) {
    return fail(invalid_argument("metadata.generation: expected an integer"));
  }
  return value;
}

// The text as three pieces: what stays in front, the revision, what stays behind it.
struct Splice {
  std::string_view before;
  std::string middle;
  std::string_view after;

  std::size_t size() const { return before.size() + middle.size() + after.size(); }
};

Splice splice_revision(std::string_view text, const Slices& slices, Revision revision) {
  std::string quoted = "\"" + std::to_string(revision) + "\"";
  std::string_view raw = slices[kResourceVersion];
  if (!raw.empty()) {
    auto at = static_cast<std::size_t>(raw.data() - text.data());
    return {text.substr(0, at), std::move(quoted), text.substr(at + raw.size())};
  }
  // There is a name, so something follows the bracket.
  auto at = static_cast<std::size_t>(slices[kMetadata].data() - text.data()) + 1;
  return {text.substr(0, at), "\"resourceVersion\":" + quoted + ",", text.substr(at)};
}

// The values that are strings, decoded where they have escapes.
struct Names {
  std::string_view api_version;
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view deletion_timestamp;
  json::Arena decoded;
};

Result<Names> read_names(const Slices& slices) {
  Names names;
  for (auto [path, target] :
       {std::pair{kName, &names.name}, std::pair{kNamespace, &names.ns},
        std::pair{kUid, &names.uid}, std::pair{kDeletionTimestamp, &names.deletion_timestamp}}) {
    auto text = json::unquote(slices[path], names.decoded);
    if (!text) {
      return fail(std::move(text).error().with_context(kPaths[path]));
    }
    *target = *text;
  }
  if (names.name.empty()) {
    return fail(invalid_argument("the object has no metadata.name"));
  }
  // One that no resource can have is none.
  if (auto version = json::unquote(slices[kApiVersion], names.decoded);
      version && version->size() <= std::numeric_limits<std::uint16_t>::max()) {
    names.api_version = *version;
  }
  return names;
}

}  // namespace

struct Object::Parts {
  const Tail* tail = nullptr;
  std::uint32_t text_size = 0;
  const ObjectSource* source = nullptr;
  std::int64_t generation = 0;
  Slice ns{};
  Slice name{};
  Slice uid{};
  Slice labels{};
  Slice owner_references{};
  Slice api_version{};
  bool is_being_deleted = false;
};

Object::Object(const Parts& parts)
    : data_(parts.tail->data),
      text_size_(parts.text_size),
      collection_(parts.source->collection),
      revision_(parts.source->revision),
      created_(parts.source->created),
      generation_(parts.generation),
      ns_(parts.ns),
      name_(parts.name),
      uid_(parts.uid),
      labels_(parts.labels),
      owner_references_(parts.owner_references),
      api_version_offset_(parts.api_version.offset),
      api_version_size_(static_cast<std::uint16_t>(parts.api_version.size)),
      is_being_deleted_(parts.is_being_deleted) {}

Result<ObjectPtr> make_object(const ObjectSource& source) {
  std::string_view text = source.text;
  if (text.size() > std::numeric_limits<std::int32_t>::max()) {
    return fail(too_large("an object of " + std::to_string(text.size()) + " bytes"));
  }
  Slices slices;
  TRY(json::scan(text, kPaths, slices));
  if (!slices[kMetadata].starts_with('{')) {
    return fail(invalid_argument("the object has no metadata"));
  }
  TRY_ASSIGN(Names names, read_names(slices));
  TRY_ASSIGN(std::int64_t generation, read_generation(slices[kGeneration]));
  Splice splice = splice_revision(text, slices, source.revision);

  std::string decoded;  // goes behind the text
  // Where a view into the old text, or into decoded memory, ends up.
  auto place = [&](std::string_view view) -> Object::Slice {
    auto size = static_cast<std::uint32_t>(view.size());
    const char* end = text.data() + text.size();
    if (view.empty()) {
      return {};
    }
    if (view.data() < text.data() || view.data() >= end) {
      auto offset = static_cast<std::uint32_t>(splice.size() + decoded.size());
      decoded += view;
      return {offset, size};
    }
    if (view.data() < splice.after.data()) {
      return {static_cast<std::uint32_t>(view.data() - text.data()), size};
    }
    return {static_cast<std::uint32_t>(splice.size() - static_cast<std::size_t>(end - view.data())),
            size};
  };
  Tail tail;
  Object::Parts parts{.tail = &tail,
                      .text_size = static_cast<std::uint32_t>(splice.size()),
                      .source = &source,
                      .generation = generation,
                      .ns = place(names.ns),
                      .name = place(names.name),
                      .uid = place(names.uid),
                      .api_version = place(names.api_version),
                      .is_being_deleted = !names.deletion_timestamp.empty()};
  parts.labels = is_null(slices[kLabels]) ? Object::Slice{} : place(slices[kLabels]);
  parts.owner_references =
      is_null(slices[kOwnerReferences]) ? Object::Slice{} : place(slices[kOwnerReferences]);

  tail.size = splice.size() + decoded.size();
  ObjectPtr object = std::allocate_shared<Object>(TailAllocator<Object>(&tail), parts);
  char* out = tail.data;
  for (std::string_view piece :
       {splice.before, std::string_view(splice.middle), splice.after, std::string_view(decoded)}) {
    std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
  return object;
}

}  // namespace codeflare::apiserver
