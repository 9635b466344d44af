#include "apiserver/rest/internal/response.h"

#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/turns.h"
#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"

#include <algorithm>
#include <array>
#include <set>

namespace codeflare::apiserver::internal {
namespace {

class PiecesBody final : public net::BodyStream {
 public:
  explicit PiecesBody(std::vector<Bytes> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<Bytes>> read() override { co_return next(); }
  std::optional<Bytes> ready() override { return next(); }

 private:
  Bytes next() {
    while (at_ < pieces_.size()) {
      Bytes piece = std::move(pieces_[at_++]);
      if (!piece.empty()) {
        return piece;
      }
    }
    return {};
  }
  std::vector<Bytes> pieces_;
  std::size_t at_ = 0;
};

void write_details(json::Writer& writer, const model::StatusDetails& details) {
  writer.key("details").begin_object();
  writer.member_if_set("name", details.name)
      .member_if_set("group", details.group)
      .member_if_set("kind", details.kind)
      .member_if_set("uid", details.uid);
  if (!details.causes.empty()) {
    writer.key("causes").begin_array();
    for (const model::StatusCause& cause : details.causes) {
      writer.begin_object();
      writer.member_if_set("reason", cause.reason)
          .member_if_set("message", cause.message)
          .member_if_set("field", cause.field);
      writer.end_object();
    }
    writer.end_array();
  }
  if (details.retry_after_seconds != 0) {
    writer.key("retryAfterSeconds").integer(details.retry_after_seconds);
  }
  writer.end_object();
}

Result<std::string_view> revision_of(const Bytes& text) {
  const std::array<std::string_view, 1> paths = {"metadata.resourceVersion"};
  std::array<std::string_view, 1> slices;
  TRY(json::scan(text.view(), paths, slices));
  return slices[0].size() >= 2 ? slices[0].substr(1, slices[0].size() - 2) : std::string_view();
}

// Upstream's: when all warnings together are longer than the first, each is cut to the second, and
// what comes after that many again is left out.
constexpr std::size_t kWarningRunesMax = 4096;
constexpr std::size_t kCutWarningRunes = 256;

bool begins_rune(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::size_t count_runes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_rune));
}

std::string_view first_runes(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && (count > 0 || !begins_rune(text[at]))) {
    count -= begins_rune(text[at]) ? 1 : 0;
    ++at;
  }
  return text.substr(0, at);
}

// Quotes and backslashes escaped, everything that could break the header left out.
std::string quoted_header(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out += '"';
}

}  // namespace

std::string status_text(const model::Status& status) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object().member("kind", "Status").member("apiVersion", "v1");
  writer.key("metadata").begin_object();
  writer.member_if_set("resourceVersion", status.metadata.resource_version);
  writer.member_if_set("continue", status.metadata.continue_token);
  if (status.metadata.remaining_item_count) {
    writer.key("remainingItemCount").integer(*status.metadata.remaining_item_count);
  }
  writer.end_object();
  writer.member_if_set("status", status.status)
      .member_if_set("message", status.message)
      .member_if_set("reason", status.reason);
  if (status.details) {
    write_details(writer, *status.details);
  }
  if (status.code != 0) {
    writer.key("code").integer(status.code);
  }
  writer.end_object();
  return out;
}

net::Response json_response(int status, Bytes text) {
  return net::make_response(status, kJson, std::move(text));
}

net::Response status_response(const model::Status& status) {
  const int code = status.code >= 100 && status.code < 600 ? status.code
                   : status.status == "Success"            ? 200
                                                           : 500;
  net::Response response = json_response(code, Bytes::from(status_text(status) + "\n"));
  if (status.details && status.details->retry_after_seconds > 0) {
    response.headers.set("Retry-After", std::to_string(status.details->retry_after_seconds));
  }
  return response;
}

net::Response error_response(const Error& error) {
  model::Status status = model::to_status(error);
  // Clients retry when the answer asks for it: a disk that is full, a store that heals.
  if ((status.code == 503 || status.code == 429) &&
      (!status.details || status.details->retry_after_seconds == 0)) {
    if (!status.details) {
      status.details.emplace();
    }
    status.details->retry_after_seconds = 1;
  }
  if (status.reason == "InternalError" && model::status_of(error) == nullptr) {
    status.message = "Internal error occurred: " + status.message;
  }
  return status_response(status);
}

void add_warnings(net::Response& response, const std::vector<std::string>& warnings) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> texts;
  std::size_t runes = 0;
  for (const std::string& warning : warnings) {
    if (!warning.empty() && seen.insert(warning).second) {
      texts.push_back(warning);
      runes += count_runes(warning);
    }
  }
  const bool cut = runes > kWarningRunesMax;
  std::size_t written = 0;
  for (std::string_view text : texts) {
    if (cut && written >= kWarningRunesMax) {
      break;
    }
    text = cut ? first_runes(text, kCutWarningRunes) : text;
    written += count_runes(text);
    response.headers.add("Warning", "299 - " + quoted_header(text));
  }
}

net::Body body_of_pieces(std::vector<Bytes> pieces) {
  return std::make_unique<PiecesBody>(std::move(pieces));
}

net::Response value_response(int status, const json::Value& value, const Form& form) {
  std::string text = form.pretty ? json::to_pretty_text(value) : json::to_text(value);
  text += '\n';
  return json_response(status, Bytes::from(std::move(text)));
}

namespace {

Result<net::Response> encoded(const Call& call, int status, const Bytes& text, WallTime now) {
  const Output output = call.output();
  if (call.form.view == View::table) {
    TRY_ASSIGN(std::string_view revision, revision_of(text));
    std::string table = table_head(output, {.resource_version = std::string(revision)});
    TRY_ASSIGN(std::string row, table_row(output, text, now));
    table.append(row).append(kTableEnd);
    return json_response(status, Bytes::from(std::move(table)));
  }
  std::vector<Bytes> pieces;
  TRY(append_object(output, text, pieces));
  if (call.form.pretty) {
    const std::string joined = join(pieces);
    TRY_ASSIGN(json::Document document, json::parse_in_place(joined));
    return value_response(status, document.root, call.form);
  }
  return json_response(status,
                       pieces.size() == 1 ? std::move(pieces[0]) : Bytes::from(join(pieces)));
}

}  // namespace

Task<Result<net::Response>> object_response(Call& call, int status, Bytes text) {
  call.enter_step();
  const WallTime now = call.server.env().clock.wall();
  auto encode = [&] { return encoded(call, status, text, now); };
  co_return co_await aside(call, text.size(), std::move(encode));
}

}  // namespace codeflare::apiserver::internal
