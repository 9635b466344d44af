#pragma once

#include "apiserver/schema/field_errors.h"
#include "json/value.h"
#include "model/validation.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// A field of an object under validation: its value, its path, and the list that gets complaints
// about it. The path is put together only for a complaint, so a good object costs no text. A
// child points to its parent: name every field on the way.
//   const Field probe = container["livenessProbe"];
//   const Field http = probe["httpGet"];
//   if (http.text("path").empty()) http.required("path");
class Field {
 public:
  Field(const json::Value& value, std::string_view path, FieldErrors& errors)
      : value_(&value), name_(path), errors_(&errors) {}

  // A member; null where there is none.
  Field operator[](std::string_view key) const&;
  Field operator[](std::string_view key) && = delete;
  // Some of upstream's paths are not those of the object: the same value under another name,
  // another value as if it stood here or in the list that stands here.
  Field called(std::string_view name) const&;
  Field with(const json::Value& value) const&;
  Field item(std::size_t index, const json::Value& value) const& { return {*this, index, value}; }
  // The items of a list, in order.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < value_->items().size(); ++i) {
      visit(item(i, value_->items()[i]));
    }
  }
  // The entries of a map, whose paths end in [key].
  template <typename Visit>
  void each_entry(Visit visit) const {
    for (const json::Member& member : value_->members()) {
      visit(Field(*this, Step::entry, member.key, member.value));
    }
  }

  const json::Value& value() const { return *value_; }
  std::string path() const;
  // The key of a map's entry, the name of a member.
  std::string_view name() const { return name_; }
  // The place of an item in its list.
  std::size_t index() const { return index_; }
  // Neither missing nor null. A pointer of Go that is set, so {} and "" count.
  bool given() const { return !value_->is_null(); }
  std::string_view text() const { return value_->is_string() ? value_->as_string() : ""; }

  bool has(std::string_view key) const;
  std::string_view text(std::string_view key) const { return value_->string_or_empty(key); }
  std::optional<std::int64_t> integer(std::string_view key) const;
  bool is_true(std::string_view key) const;
  bool is_false(std::string_view key) const;
  // How many items or entries a member has.
  std::size_t count(std::string_view key) const;

  // Complaints about a member; the empty key is the field itself. `shown` is the bad value as the
  // message shows it.
  void required(std::string_view key, std::string_view detail = {}) const;
  void invalid(std::string_view key, std::string_view shown, std::string_view detail) const;
  // The member's own value is what is wrong.
  void invalid(std::string_view key, std::string_view detail) const;
  void invalid_text(std::string_view key, std::string_view text, std::string_view detail) const;
  void not_supported(std::string_view key, std::string_view text,
                     std::initializer_list<std::string_view> supported) const;
  void forbidden(std::string_view key, std::string_view detail) const;
  void duplicate(std::string_view key, std::string_view text) const;
  void not_found(std::string_view key, std::string_view text) const;
  void too_long(std::string_view key, std::size_t bytes_max) const;
  void add(const model::Complaints& complaints, std::string_view key, std::string_view text) const;

  FieldErrors& errors() const { return *errors_; }

 private:
  enum class Step : std::uint8_t { root, member, item, entry };

  Field(const Field& parent, std::size_t index, const json::Value& value)
      : parent_(&parent),
        value_(&value),
        index_(index),
        step_(Step::item),
        errors_(parent.errors_) {}
  Field(const Field& parent, Step step, std::string_view name, const json::Value& value)
      : parent_(&parent), value_(&value), name_(name), step_(step), errors_(parent.errors_) {}

  std::string path_of(std::string_view key) const;

  const Field* parent_ = nullptr;
  const json::Value* value_;
  std::string_view name_;
  std::size_t index_ = 0;
  Step step_ = Step::root;
  FieldErrors* errors_;
};

}  // namespace codeflare::apiserver
