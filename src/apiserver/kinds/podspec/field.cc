#include "apiserver/kinds/podspec/field.h"

#include "apiserver/registry/edit.h"

#include <vector>

namespace codeflare::apiserver {

namespace {

const json::Value kNothing{};

}  // namespace

Field Field::operator[](std::string_view key) const& {
  const json::Value* member = value_->find(key);
  return {*this, Step::member, key, member == nullptr ? kNothing : *member};
}

Field Field::called(std::string_view name) const& {
  Field same = *this;
  same.name_ = name;
  return same;
}

Field Field::with(const json::Value& value) const& {
  Field other = *this;
  other.value_ = &value;
  return other;
}

std::string Field::path() const {
  switch (step_) {
    case Step::root:
      break;
    case Step::member:
      return child(parent_->path(), name_);
    case Step::item:
      return at_index(parent_->path(), index_);
    case Step::entry:
      return at_key(parent_->path(), name_);
  }
  return std::string(name_);
}

std::string Field::path_of(std::string_view key) const {
  return key.empty() ? path() : child(path(), key);
}

bool Field::has(std::string_view key) const {
  return !absent(*value_, key);
}

std::optional<std::int64_t> Field::integer(std::string_view key) const {
  return integer_at(*value_, key);
}

bool Field::is_true(std::string_view key) const {
  return true_at(*value_, key);
}

bool Field::is_false(std::string_view key) const {
  const json::Value* member = value_->find(key);
  return member != nullptr && member->is_boolean() && !member->as_bool();
}

std::size_t Field::count(std::string_view key) const {
  const json::Value* member = value_->find(key);
  return member == nullptr ? 0 : member->size();
}

void Field::required(std::string_view key, std::string_view detail) const {
  errors_->required(path_of(key), detail);
}

void Field::invalid(std::string_view key, std::string_view shown, std::string_view detail) const {
  errors_->invalid(path_of(key), shown, detail);
}

void Field::invalid(std::string_view key, std::string_view detail) const {
  const json::Value* member = key.empty() ? value_ : value_->find(key);
  errors_->invalid(path_of(key), show(member == nullptr ? kNothing : *member), detail);
}

void Field::invalid_text(std::string_view key, std::string_view text,
                         std::string_view detail) const {
  errors_->invalid_text(path_of(key), text, detail);
}

void Field::not_supported(std::string_view key, std::string_view text,
                          std::initializer_list<std::string_view> supported) const {
  errors_->not_supported(path_of(key), quote(text), {supported.begin(), supported.end()});
}

void Field::forbidden(std::string_view key, std::string_view detail) const {
  errors_->forbidden(path_of(key), detail);
}

void Field::duplicate(std::string_view key, std::string_view text) const {
  errors_->duplicate(path_of(key), quote(text));
}

void Field::not_found(std::string_view key, std::string_view text) const {
  errors_->not_found(path_of(key), quote(text));
}

void Field::too_long(std::string_view key, std::size_t bytes_max) const {
  errors_->too_long(path_of(key), bytes_max);
}

void Field::add(const model::Complaints& complaints, std::string_view key,
                std::string_view text) const {
  for (const std::string& complaint : complaints) {
    invalid_text(key, text, complaint);
  }
}

}  // namespace codeflare::apiserver
