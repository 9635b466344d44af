#pragma once

#include "apiserver/kinds/podspec/field.h"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace codeflare::apiserver::podspec {

// Rules that many fields of a pod share, in kube-apiserver's words. `key` is a member of the field;
// where it may be empty, it is the field itself.

using Names = std::set<std::string, std::less<>>;
using NameRule = model::Complaints (*)(std::string_view);
using Words = std::initializer_list<std::string_view>;

// These texts are there.
void need(const Field& field, Words keys);
// A text that keeps to the rule. The first two look at it only when it is not empty, the second
// wants it to be there, the third looks at it in any case.
void check_name(const Field& field, std::string_view key, NameRule rule);
void need_name(const Field& field, std::string_view key, NameRule rule);
void check_any_name(const Field& field, std::string_view key, NameRule rule);

// One of the words; the first wants it to be there, the second looks at it only when it is given.
void need_one_of(const Field& field, std::string_view key, Words supported);
void check_one_of(const Field& field, std::string_view key, Words supported);

// Numbers, when they are given.
void check_not_negative(const Field& field, std::string_view key);
void check_positive(const Field& field, std::string_view key);
void check_range(const Field& field, std::string_view key, std::int64_t min, std::int64_t max);
// Of users and groups.
void check_identity(const Field& field, std::string_view key);
void check_port(const Field& field, std::string_view key, std::int64_t port);
// A number or the name of a port.
void check_port_or_name(const Field& field, std::string_view key);
void check_file_mode(const Field& field, std::string_view key);

// Paths; `path` is the text, which stands at `key`.
bool steps_back(std::string_view path);
void check_no_back_steps(const Field& field, std::string_view key, std::string_view path);
void check_descending(const Field& field, std::string_view key, std::string_view path);
// Descending, and no name that a volume keeps for itself.
void check_local(const Field& field, std::string_view key, std::string_view path);

void check_address(const Field& field, std::string_view key, std::string_view text);

std::string lower(std::string_view text);

// Rules for texts.
model::Complaints check_variable_name(std::string_view name);
model::Complaints check_header_name(std::string_view name);
model::Complaints check_search_domain(std::string_view domain);
// As check_dns1123_subdomain, but a trailing dash counts as the place of a generated ending.
model::Complaints check_name_prefix(std::string_view name);

}  // namespace codeflare::apiserver::podspec
