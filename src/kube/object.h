#pragma once

#include "base/result.h"
#include "base/text_sample.h"
#include "json/value.h"
#include "model/codec/codec.h"
#include "model/gvk.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::kube {

class Object;
using ObjectRef = std::shared_ptr<const Object>;

// A resourceVersion as a number; 0 when it is not a decimal one.
std::uint64_t to_revision(std::string_view resource_version);

// An API object as the server sent it: its JSON text, and views of the few fields that caches and
// controllers look at all the time. Immutable and shared; a tree or a typed struct is made from it
// only when somebody asks. So a cached object costs no more than its text, and packed a fraction
// of it.
class Object {
 public:
  // Takes a copy of `text`. Fails when it is not a JSON object with metadata.name.
  static Result<ObjectRef> from_json(std::string_view text);
  // The object with another text, for transforms: text of the tree, written compactly.
  static Result<ObjectRef> from_value(const json::Value& value);
  // The same object for keeping: its text packed against the sample, unless that saves nothing. It
  // reads as before; only what needs the whole text takes a microsecond or so longer.
  static ObjectRef packed(ObjectRef object, const std::shared_ptr<TextSample>& sample);

  // As the server sent it.
  std::string text() const;
  std::string_view api_version() const { return at(api_version_); }  // may be empty in a list
  std::string_view kind() const { return at(kind_); }                // likewise
  std::string_view ns() const { return at(ns_); }
  std::string_view name() const { return at(name_); }
  std::string_view uid() const { return at(uid_); }
  std::string_view resource_version() const { return at(resource_version_); }
  // 0 when the server's version is not a decimal number.
  std::uint64_t revision() const { return to_revision(resource_version()); }
  std::int64_t generation() const { return generation_; }
  bool deleting() const { return deleting_; }  // has a deletionTimestamp
  // Raw JSON of these members, empty when absent.
  std::string_view labels_json() const { return at(labels_); }
  std::string_view owner_references_json() const { return at(owners_); }

  model::ObjectKey key() const { return {std::string(ns()), std::string(name())}; }

  // The whole tree. The text was validated when the object was made or the parse says why not.
  Result<json::Document> parse() const;

  // The text of the string at a path of member names; empty when there is none. Reads the whole
  // tree: for more than a few fields, parse once.
  std::string string_at(std::initializer_list<std::string_view> path) const;

  // The model struct T, by its codec; include the kind's codec header.
  template <typename T>
  Result<T> as() const {
    TRY_ASSIGN(const json::Document document, parse());
    return model::from_json<T>(document.root);
  }

  // Bytes this object holds, for memory accounting.
  std::size_t memory_bytes() const;

 private:
  struct Passkey {};

 public:
  explicit Object(Passkey);
  ~Object();

 private:
  class Builder;
  struct Slice {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
  };
  std::string_view at(Slice slice) const { return {bytes_.get() + slice.offset, slice.length}; }

  // The text, plain or packed, and behind it the strings above that are not found in it as such.
  std::unique_ptr<char[]> bytes_;
  std::shared_ptr<const TextSample> sample_;  // null when the text is plain
  std::uint32_t text_size_ = 0;               // unpacked
  std::uint32_t stored_size_ = 0;             // of the text as it is kept
  std::uint32_t extra_size_ = 0;              // of the strings behind it
  bool deleting_ = false;
  std::int64_t generation_ = 0;
  Slice api_version_, kind_, ns_, name_, uid_, resource_version_, labels_, owners_;
};

}  // namespace codeflare::kube
