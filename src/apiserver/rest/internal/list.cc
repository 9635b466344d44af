#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/list_options.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/selection.h"
#include "json/write.h"
#include "model/status.h"

#include <algorithm>

namespace codeflare::apiserver::internal {
namespace {

// How many objects are filtered or written before others get a turn.
constexpr std::size_t kTurn = 512;

struct Page {
  Revision revision = 0;
  std::vector<ObjectPtr> items;
  std::string continue_token;
  std::optional<std::int64_t> remaining;
};

// Writes a list out of the objects' own texts, one piece after the other.
class ListBody final : public net::BodyStream {
 public:
  ListBody(Output output, std::string head, std::vector<ObjectPtr> items, std::string_view end,
           WallTime now)
      : output_(std::move(output)),
        head_(std::move(head)),
        items_(std::move(items)),
        end_(end),
        now_(now) {}

  Task<Result<Bytes>> read() override {
    if (turn_ >= kTurn) {
      co_await yield();
      turn_ = 0;
    }
    if (std::optional<Bytes> piece = next()) {
      co_return *std::move(piece);
    }
    co_return fail(internal_error("an object of the list could not be written"));
  }

  std::optional<Bytes> ready() override {
    if (turn_ >= kTurn) {
      return std::nullopt;
    }
    return next();
  }

 private:
  // Nothing when an object can't be encoded: the connection is cut rather than the list.
  std::optional<Bytes> next() {
    ++turn_;
    if (!head_.empty()) {
      return Bytes::from(std::exchange(head_, {}));
    }
    while (piece_ == pieces_.size()) {
      if (item_ == items_.size()) {
        return Bytes::from_static(std::exchange(end_, {}));
      }
      pieces_.clear();
      piece_ = 0;
      if (item_ > 0) {
        pieces_.push_back(Bytes::from_static(","));
      }
      // Each text is let go as soon as it is on its way.
      if (!encode(std::exchange(items_[item_++], nullptr))) {
        return std::nullopt;
      }
    }
    return std::move(pieces_[piece_++]);
  }

  bool encode(const ObjectPtr& object) {
    if (output_.form.view != View::table) {
      return append_object(output_, *object, pieces_).has_value();
    }
    Result<std::string> row = table_row(output_, object->text(), now_);
    if (row) {
      pieces_.push_back(Bytes::from(*std::move(row)));
    }
    return row.has_value();
  }

  Output output_;
  std::string head_;
  std::vector<ObjectPtr> items_;
  std::string_view end_;
  WallTime now_;
  std::vector<Bytes> pieces_;
  std::size_t piece_ = 0;
  std::size_t item_ = 0;
  std::size_t turn_ = 0;
};

std::string list_head(const Call& call, const Page& page) {
  if (call.form.view == View::table) {
    return table_head(call.output(), {.resource_version = std::to_string(page.revision),
                                      .continue_token = page.continue_token,
                                      .remaining = page.remaining});
  }
  std::string out;
  json::Writer writer(out);
  const bool partial = call.form.view == View::partial;
  writer.begin_object()
      .member("kind", partial ? "PartialObjectMetadataList" : call.resource->list_kind)
      .member("apiVersion", partial ? "meta.k8s.io/" + call.form.meta_version : call.api_version());
  writer.key("metadata").begin_object().member("resourceVersion", std::to_string(page.revision));
  writer.member_if_set("continue", page.continue_token);
  if (page.remaining) {
    writer.key("remainingItemCount").integer(*page.remaining);
  }
  writer.end_object();
  out += ",\"items\":[";
  return out;
}

Error expired_page(const ContinueToken& token) {
  model::Status status = model::to_status(expired_error(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list."));
  status.metadata.continue_token = ContinueToken{.revision = 0, .after = token.after}.encode();
  return model::to_error(std::move(status));
}

Error expired_revision(Revision asked) {
  return expired_error("The resourceVersion for the provided list is too old: " +
                       std::to_string(asked));
}

// Everything that could be on the page and what comes behind it, by pointer; the state cannot
// change meanwhile.
Result<Page> collect(Call& call, const Store::Range& range, const Selection& selection,
                     std::size_t limit) {
  Page page;
  const bool cut = limit > 0 && selection.is_everything();
  std::int64_t more = 0;
  TRY_ASSIGN(page.revision, call.server.store().visit(call.resource->collection, range,
                                                      [&](const ObjectPtr& object) {
                                                        if (cut && page.items.size() == limit) {
                                                          ++more;
                                                        } else {
                                                          page.items.push_back(object);
                                                        }
                                                        return true;
                                                      }));
  if (more > 0) {
    page.remaining = more;
  }
  return page;
}

// Leaves what the selection wants, at most `limit`. True when there may be more behind.
Task<bool> select(const Selection& selection, std::size_t limit, std::vector<ObjectPtr>& items) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % kTurn == kTurn - 1) {
      co_await yield();
    }
    if (!selection.matches(*items[i])) {
      continue;
    }
    if (limit > 0 && kept == limit) {
      items.resize(kept);
      co_return true;
    }
    // In place: the visited part is never looked at again.
    items[kept++] = items[i];
  }
  items.resize(kept);
  co_return false;
}

struct Bounds {
  Store::Range range;
  std::size_t limit = 0;
  std::optional<ContinueToken> token;
};

Task<Result<Bounds>> bounds_of(Call& call, const ListOptions& options, std::string ns) {
  Bounds bounds{.range = {}, .limit = options.limit, .token = {}};
  if (!ns.empty()) {
    bounds.range.ns = std::move(ns);
  }
  if (!options.continue_token.empty()) {
    if (options.revision != 0) {
      co_return fail(bad_request("specifying resource version is not allowed when using continue"));
    }
    CO_TRY_ASSIGN(bounds.token, ContinueToken::decode(options.continue_token));
    bounds.range.after = bounds.token->after;
    bounds.range.at = bounds.token->revision;
    CO_TRY(co_await wait_for_revision(call.server, bounds.range.at));
    co_return bounds;
  }
  if (options.resource_version == "0") {
    bounds.limit = 0;  // upstream answers from its cache, whole
  }
  CO_TRY(co_await wait_for_revision(call.server, options.revision));
  const bool exact = options.match == VersionMatch::exact ||
                     (options.match == VersionMatch::unset && options.limit > 0);
  if (exact) {
    bounds.range.at = options.revision;
  }
  co_return bounds;
}

}  // namespace

Task<Result<net::Response>> handle_list(Call& call) {
  CO_TRY_ASSIGN(ListOptions options, ListOptions::parse(call.info, false));
  CO_TRY_ASSIGN(Selection selection, Selection::parse(call.info, *call.resource, *call.version));
  CO_TRY_ASSIGN(Bounds bounds, co_await bounds_of(call, options, selection.ns()));
  Result<Page> found = collect(call, bounds.range, selection, bounds.limit);
  if (!found && found.error().code == ErrorCode::expired) {
    co_return fail(bounds.token ? expired_page(*bounds.token) : expired_revision(bounds.range.at));
  }
  if (!found) {
    co_return fail(std::move(found).error());
  }
  Page page = *std::move(found);
  bool more = page.remaining.has_value();
  if (!selection.is_everything()) {
    more = co_await select(selection, bounds.limit, page.items);
  }
  if (more && !page.items.empty()) {
    const Object& last = *page.items.back();
    page.continue_token = ContinueToken{.revision = page.revision,
                                        .after = {std::string(last.ns()), std::string(last.name())}}
                              .encode();
  }
  std::string head = list_head(call, page);
  const std::string_view end = "]}\n";
  net::Response response;
  response.headers.set("Content-Type", std::string(kJson));
  Output output = call.output();
  const auto goes_as_it_is = [&](const ObjectPtr& item) {
    return output.shows(item->api_version());
  };
  if (output.form.view == View::object && std::ranges::all_of(page.items, goes_as_it_is)) {
    std::size_t size = head.size() + end.size() + (page.items.empty() ? 0 : page.items.size() - 1);
    for (const ObjectPtr& item : page.items) {
      size += item->json().size();
    }
    response.body_size = size;
  }
  response.body =
      std::make_unique<ListBody>(std::move(output), std::move(head), std::move(page.items), end,
                                 call.server.env().clock.wall());
  co_return response;
}

}  // namespace codeflare::apiserver::internal
