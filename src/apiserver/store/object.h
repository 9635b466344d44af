#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace codeflare::apiserver {

// The one counter of all writes; an object's resourceVersion is the revision of its last write.
using Revision = std::uint64_t;

// A resource as it is stored ("pods", "jobs.batch"), whatever versions it is served in. Given out
// by a Store, counting from 1; 0 is none.
using CollectionId = std::uint32_t;

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

struct ObjectSource {
  CollectionId collection = 0;
  std::string_view text{};  // copied
  Revision revision = 0;
  Revision created = 0;
};

// An object from its JSON text, with `revision` put in place of metadata.resourceVersion, or added
// when there is none. Fails with invalid_argument when the text has no metadata with a name. Stores
// do this for every write; tests may.
Result<ObjectPtr> make_object(const ObjectSource& source);

// One version of one object: its JSON text, resourceVersion included, in what was the storage
// version when it was written. It never changes, so reads, watches and connections share it.
// Reference counts, head and text are one block of memory: ten thousand of them cost little more
// than their text.
class Object : public std::enable_shared_from_this<Object> {
  struct Parts;

 public:
  // Views live as long as the object; they are decoded when the text has escapes.
  std::string_view ns() const { return at(ns_); }
  std::string_view name() const { return at(name_); }
  std::string_view uid() const { return at(uid_); }
  // Of the text; a resource's storage version may be another one by now.
  std::string_view api_version() const { return {data_ + api_version_offset_, api_version_size_}; }
  // Raw JSON objects and arrays, empty when absent or null.
  std::string_view labels() const { return at(labels_); }
  std::string_view owner_references() const { return at(owner_references_); }
  bool is_being_deleted() const { return is_being_deleted_; }
  std::int64_t generation() const { return generation_; }

  CollectionId collection() const { return collection_; }
  Revision revision() const { return revision_; }
  // Of the first version: two objects that had the same name one after the other differ in it.
  Revision created() const { return created_; }

  std::string_view json() const { return {data_, text_size_}; }
  // The same text, kept alive by what is returned.
  Bytes text() const { return {shared_from_this(), json()}; }

  // Only make_object() can name its parameter.
  explicit Object(const Parts& parts);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

 private:
  friend Result<ObjectPtr> make_object(const ObjectSource& source);

  struct Slice {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
  };
  std::string_view at(Slice slice) const { return {data_ + slice.offset, slice.size}; }

  const char* data_;  // the text, then what had to be decoded
  std::uint32_t text_size_;
  CollectionId collection_;
  Revision revision_;
  Revision created_;
  std::int64_t generation_;
  Slice ns_;
  Slice name_;
  Slice uid_;
  Slice labels_;
  Slice owner_references_;
  // Together with the flag no larger than what the flag alone would take.
  std::uint32_t api_version_offset_;
  std::uint16_t api_version_size_;
  bool is_being_deleted_;
};

}  // namespace codeflare::apiserver
