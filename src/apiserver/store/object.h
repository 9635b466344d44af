#pragma once

#include "base/bytes.h"
#include "json/scan.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace codeflare::apiserver {

// The one counter of all writes; an object's resourceVersion is the revision of its last write.
using Revision = std::uint64_t;

// A resource as it is stored ("pods", "jobs.batch"), whatever versions it is served in.
using CollectionId = std::uint32_t;

// One version of one object: its JSON text in the storage version, resourceVersion included. It
// never changes, so reads, watches and connections share it.
class Object {
 public:
  // Views point into the text (or, in the odd case of escapes, into memory that the object holds).
  std::string_view ns() const { return head_.ns; }
  std::string_view name() const { return head_.name; }
  std::string_view uid() const { return head_.uid; }
  // Raw JSON objects and arrays, empty when absent.
  std::string_view labels() const { return head_.labels; }
  std::string_view owner_references() const { return head_.owner_references; }
  bool is_being_deleted() const { return !head_.deletion_timestamp.empty(); }
  std::int64_t generation() const { return head_.generation; }

  Revision revision() const { return revision_; }
  // Of the first version: two objects that had the same name one after the other differ in it.
  Revision created() const { return created_; }

  const Bytes& text() const { return text_; }

 private:
  friend class ObjectBuilder;
  Bytes text_;
  json::ObjectHead head_;
  Revision revision_ = 0;
  Revision created_ = 0;
};

using ObjectPtr = std::shared_ptr<const Object>;

}  // namespace codeflare::apiserver
