#include "usage/licence.h"

#include "base/base64.h"
#include "json/parse.h"
#include "net/url.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace codeflare::usage {

namespace {

constexpr std::size_t kAnswerBytesMax = 1u << 20;

LicenceCheck bad(std::string message) {
  return {.answer = LicenceAnswer::bad, .message = std::move(message)};
}

LicenceCheck good(std::string message) {
  return {.answer = LicenceAnswer::good, .message = std::move(message)};
}

bool has_id(const json::Value& root, std::string_view name, std::int64_t wanted) {
  const json::Value* id = root.get({"meta", name});
  return wanted == 0 || (id != nullptr && id->to_int64() == wanted);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool is_signed(std::string_view claims, std::string_view signature, std::string_view public_key) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                  public_key.size()),
      &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  return key != nullptr && context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(claims),
                          claims.size()) == 1;
}

LicenceCheck read_claims(std::string_view claims, WallTime now) {
  const Result<json::Document> document = json::parse(claims);
  if (!document) {
    return bad("the licence file's claims are not JSON");
  }
  const json::Value& root = document->root;
  const Result<WallTime> begin = parse_rfc3339(root.string_or_empty("notBefore"));
  const Result<WallTime> end = parse_rfc3339(root.string_or_empty("notAfter"));
  if (!begin || !end) {
    return bad("the licence file lacks notBefore or notAfter");
  }
  if (now < *begin) {
    return bad("the licence is valid from " + to_rfc3339(*begin));
  }
  if (now >= *end) {
    return bad("the licence expired at " + to_rfc3339(*end));
  }
  return good("licensed to " + std::string(root.string_or_empty("customer")) + " until " +
              to_rfc3339(*end));
}

}  // namespace

LicenceState after_check(LicenceState state, LicenceCheck check, WallTime now) {
  if (check.answer == LicenceAnswer::good) {
    state.last_good = now;
  } else if (check.answer == LicenceAnswer::bad) {
    state.last_good.reset();  // the vendor's word ends the grace
  }
  state.last = std::move(check);
  state.newest = std::max(state.newest.value_or(now), now);
  return state;
}

LicenceStanding standing_of(const LicenceState& state, WallTime now) {
  if (state.newest && now + kClockSlack < *state.newest) {
    return {.reason = "ClockSetBack",
            .message = "the clock shows " + to_rfc3339(now) + " but " + to_rfc3339(*state.newest) +
                       " was seen before; correct the clock"};
  }
  if (state.last.answer == LicenceAnswer::good) {
    return {.admits = true, .reason = "Licensed", .message = state.last.message};
  }
  if (state.last.answer == LicenceAnswer::bad) {
    return {.reason = "LicenceRejected",
            .message = state.last.message + "; running jobs continue, nothing new is admitted"};
  }
  if (state.last_good && now < *state.last_good + kLicenceGrace) {
    return {.admits = true,
            .reason = "Grace",
            .message = "the licence cannot be checked (" + state.last.message +
                       "); work is admitted until " + to_rfc3339(*state.last_good + kLicenceGrace)};
  }
  return {.reason = "LicenceUnknown",
          .message = "the licence could not be checked (" + state.last.message +
                     "); running jobs continue, nothing new is admitted"};
}

LicenceCheck read_validation(int status, std::string_view body, LicenceIds ids, WallTime now) {
  if (status == 429 || status >= 500) {
    return {.answer = LicenceAnswer::unreachable,
            .message = "the licence service answered " + std::to_string(status)};
  }
  const Result<json::Document> document = json::parse(body);
  const json::Value* valid = document ? document->root.find("valid") : nullptr;
  if (valid == nullptr || !valid->is_boolean()) {
    // A proxy's page is not the vendor's word.
    return {.answer = LicenceAnswer::unreachable,
            .message = "the licence service sent no answer that can be read"};
  }
  const json::Value& root = document->root;
  const json::Value* key = root.find("license_key");
  const std::string key_status(key == nullptr ? "" : key->string_or_empty("status"));
  if (!valid->as_bool() || key_status != "active") {
    const std::string_view error = root.string_or_empty("error");
    return bad("the licence is " + (key_status.empty() ? "not valid" : key_status) +
               (error.empty() ? "" : " (" + std::string(error) + ")"));
  }
  if (!has_id(root, "store_id", ids.store) || !has_id(root, "product_id", ids.product)) {
    return bad("the licence key belongs to another product");
  }
  const Result<WallTime> end = parse_rfc3339(key->string_or_empty("expires_at"));
  if (end && now >= *end) {
    return bad("the licence expired at " + to_rfc3339(*end));
  }
  return good("licensed" + (end ? " until " + to_rfc3339(*end) : std::string()));
}

Task<Result<LicenceCheck>> validate_online(net::HttpService& http, Secret key, LicenceIds ids,
                                           WallTime now) {
  std::string form = "license_key=" + net::percent_encode(key.reveal());
  const std::size_t size = form.size();
  net::Request request{.method = "POST",
                       .target = "/v1/licenses/validate",
                       .headers = {{"Accept", "application/json"},
                                   {"Content-Type", "application/x-www-form-urlencoded"}},
                       .body = net::body_of(std::move(form)),
                       .body_size = size};
  Result<net::Response> response = co_await http.send(std::move(request));
  std::string text;
  if (response && response->body != nullptr) {
    net::Body body = std::move(response->body);
    Result<std::string> read = co_await net::read_all(std::move(body), kAnswerBytesMax);
    if (!read) {
      response = fail(std::move(read).error());
    } else {
      text = *std::move(read);
    }
  }
  if (response) {
    co_return read_validation(response->status, text, ids, now);
  }
  if (response.error().code == ErrorCode::cancelled) {
    co_return fail(std::move(response).error());
  }
  co_return LicenceCheck{.answer = LicenceAnswer::unreachable, .message = response.error().message};
}

LicenceCheck read_licence_file(std::string_view text, std::string_view public_key, WallTime now) {
  const Result<json::Document> document = json::parse(text);
  if (!document) {
    return bad("the licence file is not JSON");
  }
  const Result<std::string> claims = from_base64(document->root.string_or_empty("claims"));
  const Result<std::string> signature = from_base64(document->root.string_or_empty("signature"));
  if (!claims || !signature || !is_signed(*claims, *signature, public_key)) {
    return bad("the licence file's signature is not valid");
  }
  return read_claims(*claims, now);
}

}  // namespace codeflare::usage
