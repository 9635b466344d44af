#include "apiserver/rest/internal/list_options.h"

#include "apiserver/rest/internal/errors.h"
#include "apiserver/schema/field_errors.h"
#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <charconv>

namespace codeflare::apiserver::internal {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// A number in the query; absent or empty is nothing.
Result<std::optional<std::int64_t>> number_of(const Query& query, std::string_view name) {
  std::optional<std::string_view> text = query.get(name);
  if (!text || text->empty()) {
    return std::optional<std::int64_t>();
  }
  std::optional<std::int64_t> value = parse_number<std::int64_t>(*text);
  if (!value) {
    return fail(bad_request("unable to parse " + std::string(name) +
                            ": strconv.ParseInt: parsing \"" + std::string(*text) +
                            "\": invalid syntax"));
  }
  return value;
}

void check_list(const ListOptions& options, std::string_view match, FieldErrors& errors) {
  const std::string field = "resourceVersionMatch";
  if (!match.empty()) {
    if (options.resource_version.empty()) {
      errors.forbidden(field,
                       "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      errors.not_supported(field, "\"" + std::string(match) + "\"", {"Exact", "NotOlderThan", ""});
    }
    if (match == "Exact" && options.resource_version == "0") {
      errors.forbidden(field,
                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) {
    errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
}

void check_watch(const ListOptions& options, std::string_view match, FieldErrors& errors) {
  const std::string field = "resourceVersionMatch";
  if (options.send_initial_events && match != "NotOlderThan") {
    errors.forbidden(field,
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match.empty()) {
    return;
  }
  if (!options.send_initial_events) {
    errors.forbidden(
        field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match != "NotOlderThan") {
    errors.not_supported(field, "\"" + std::string(match) + "\"", {"NotOlderThan"});
  }
  if (!options.continue_token.empty()) {
    errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
  }
}

// base64url without padding, as upstream writes its tokens.
std::string to_url_safe(std::string text) {
  while (!text.empty() && text.back() == '=') {
    text.pop_back();
  }
  for (char& c : text) {
    c = c == '+' ? '-' : c == '/' ? '_' : c;
  }
  return text;
}

std::string from_url_safe(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  }
  while (out.size() % 4 != 0) {
    out += '=';
  }
  return out;
}

}  // namespace

Result<ListOptions> ListOptions::parse(const RequestInfo& info, bool watch) {
  const Query& query = info.query;
  ListOptions options;
  options.resource_version = query.get("resourceVersion").value_or("");
  options.continue_token = query.get("continue").value_or("");
  options.bookmarks = query.flag("allowWatchBookmarks");
  if (query.get("sendInitialEvents")) {
    options.send_initial_events = query.flag("sendInitialEvents");
  }
  TRY_ASSIGN(std::optional<std::int64_t> limit, number_of(query, "limit"));
  // A negative number means no limit, as upstream takes it.
  options.limit = static_cast<std::size_t>(std::max<std::int64_t>(limit.value_or(0), 0));
  TRY_ASSIGN(options.timeout_seconds, number_of(query, "timeoutSeconds"));
  const std::string_view match = query.get("resourceVersionMatch").value_or("");
  FieldErrors errors;
  watch ? check_watch(options, match, errors) : check_list(options, match, errors);
  if (!errors.empty()) {
    return fail(errors.to_error("meta.k8s.io", "ListOptions", ""));
  }
  options.match = match == "Exact"          ? VersionMatch::exact
                  : match == "NotOlderThan" ? VersionMatch::not_older_than
                                            : VersionMatch::unset;
  if (!options.resource_version.empty()) {
    std::optional<Revision> revision = parse_number<Revision>(options.resource_version);
    if (!revision) {
      return fail(bad_request("invalid resource version: resourceVersion: Invalid value: \"" +
                              options.resource_version + "\": strconv.ParseUint: parsing \"" +
                              options.resource_version + "\": invalid syntax"));
    }
    options.revision = *revision;
  }
  return options;
}

std::string ContinueToken::encode() const {
  std::string text;
  json::Writer writer(text);
  std::string start = after.first.empty() ? after.second : after.first + "/" + after.second;
  start += '\0';
  writer.begin_object().member("v", "meta.k8s.io/v1").key("rv");
  writer.integer(revision == 0 ? -1 : static_cast<std::int64_t>(revision));
  writer.member("start", start).end_object();
  return to_url_safe(to_base64(text));
}

Result<ContinueToken> ContinueToken::decode(std::string_view text) {
  auto wrong = [](std::string_view why) {
    return fail(bad_request("continue key is not valid: " + std::string(why)));
  };
  Result<std::string> decoded = from_base64(from_url_safe(text));
  if (!decoded) {
    return wrong(decoded.error().message);
  }
  Result<json::Document> document = json::parse(*decoded);
  if (!document || document->root.string_or_empty("v") != "meta.k8s.io/v1") {
    return wrong("server does not recognize this encoded version");
  }
  const json::Value* rv = document->root.find("rv");
  std::optional<std::int64_t> revision = rv == nullptr ? std::nullopt : rv->to_int64();
  std::string_view start = document->root.string_or_empty("start");
  if (!revision || *revision == 0 || start.empty()) {
    return wrong("incorrect encoded start resourceVersion");
  }
  if (start.back() == '\0') {
    start.remove_suffix(1);
  }
  ContinueToken token;
  token.revision = *revision < 0 ? 0 : static_cast<Revision>(*revision);
  const std::size_t slash = start.find('/');
  if (slash != std::string_view::npos) {
    token.after.first = start.substr(0, slash);
    start.remove_prefix(slash + 1);
  }
  token.after.second = start;
  return token;
}

}  // namespace codeflare::apiserver::internal
