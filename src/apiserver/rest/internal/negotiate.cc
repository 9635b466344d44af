#include "apiserver/rest/internal/negotiate.h"

#include "apiserver/rest/internal/errors.h"

#include <algorithm>
#include <charconv>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::size_t kClausesMax = 64;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// Calls `use` with each part between separators.
template <typename Use>
void split(std::string_view text, char separator, Use use) {
  while (true) {
    const std::size_t at = text.find(separator);
    use(trim(text.substr(0, at)));
    if (at == std::string_view::npos) {
      return;
    }
    text.remove_prefix(at + 1);
  }
}

AcceptClause parse_clause(std::string_view text) {
  AcceptClause clause;
  bool first = true;
  split(text, ';', [&](std::string_view part) {
    if (first) {
      clause.type = lower(part);
      first = false;
      return;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return;
    }
    std::string_view key = trim(part.substr(0, equals));
    std::string_view value = trim(part.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (key == "q") {
      std::from_chars(value.data(), value.data() + value.size(), clause.quality);
    } else {
      clause.params.insert_or_assign(lower(key), std::string(value));
    }
  });
  return clause;
}

std::string param(const AcceptClause& clause, std::string_view name) {
  auto at = clause.params.find(name);
  return at == clause.params.end() ? std::string() : at->second;
}

// The form a clause asks for, or nothing when this server does not have it.
std::optional<Form> form_of(const AcceptClause& clause, bool list) {
  const bool json = clause.type == kJson || clause.type == "application/*" || clause.type == "*/*";
  if (!json) {
    return std::nullopt;
  }
  Form form;
  const std::string as = param(clause, "as");
  form.pretty = param(clause, "pretty") == "1";
  if (as.empty()) {
    return param(clause, "g").empty() && param(clause, "v").empty() ? std::optional(form)
                                                                    : std::nullopt;
  }
  const std::string version = param(clause, "v");
  if (param(clause, "g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
    return std::nullopt;
  }
  form.meta_version = version;
  if (as == "Table") {
    form.view = View::table;
    return form;
  }
  if (as == (list ? "PartialObjectMetadataList" : "PartialObjectMetadata")) {
    form.view = View::partial;
    return form;
  }
  return std::nullopt;
}

}  // namespace

std::vector<AcceptClause> parse_accept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  split(header, ',', [&](std::string_view part) {
    if (!part.empty() && clauses.size() < kClausesMax) {
      clauses.push_back(parse_clause(part));
    }
  });
  // Insertion sort: stable, and the headers are short.
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    for (std::size_t j = i; j > 0 && clauses[j - 1].quality < clauses[j].quality; --j) {
      std::swap(clauses[j - 1], clauses[j]);
    }
  }
  return clauses;
}

std::string media_type(std::string_view content_type) {
  return lower(trim(content_type.substr(0, content_type.find(';'))));
}

Result<Form> negotiate(std::optional<std::string_view> accept, bool list) {
  if (!accept || trim(*accept).empty()) {
    return Form{};
  }
  for (const AcceptClause& clause : parse_accept(*accept)) {
    if (std::optional<Form> form = form_of(clause, list)) {
      return *std::move(form);
    }
  }
  return fail(not_acceptable(kJson));
}

}  // namespace codeflare::apiserver::internal
