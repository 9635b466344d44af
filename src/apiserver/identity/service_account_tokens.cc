#include "apiserver/identity/service_account_tokens.h"

#include "apiserver/identity/internal/go_text.h"
#include "apiserver/identity/internal/openssl.h"
#include "apiserver/identity/service_account_name.h"
#include "apiserver/schema/field_errors.h"
#include "json/scan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::apiserver {

namespace {

using namespace std::chrono_literals;

// For clocks that differ and for objects that are just going.
constexpr auto kLeeway = 60s;
constexpr std::size_t kVerifiedMax = 4096;

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::vector<std::string> common(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> both;
  for (const std::string& one : a) {
    if (std::ranges::find(b, one) != b.end()) {
      both.push_back(one);
    }
  }
  return both;
}

Error invalidated() {
  return unauthenticated("service account token has been invalidated");
}

User user_of(const TokenClaims& claims) {
  User user{.name = service_account_user_name(claims.ns, claims.service_account.name),
            .uid = claims.service_account.uid,
            .groups = service_account_groups(claims.ns)};
  auto add = [&](std::string_view key, std::string value) {
    user.extra["authentication.kubernetes.io/" + std::string(key)] = {std::move(value)};
  };
  if (claims.pod && !claims.pod->name.empty() && !claims.pod->uid.empty()) {
    add("pod-name", claims.pod->name);
    add("pod-uid", claims.pod->uid);
  }
  if (!claims.id.empty()) {
    add("credential-id", "JTI=" + claims.id);
  }
  if (claims.node && !claims.node->name.empty()) {
    add("node-name", claims.node->name);
    if (!claims.node->uid.empty()) {
      add("node-uid", claims.node->uid);
    }
  }
  return user;
}

}  // namespace

struct ServiceAccountTokens::Collections {
  CollectionId service_accounts;
  CollectionId pods;
  CollectionId secrets;
  CollectionId nodes;
};

ServiceAccountTokens::ServiceAccountTokens(Env env, Store& store, SigningKey key, Options options)
    : env_(env),
      store_(store),
      key_(std::move(key)),
      options_(std::move(options)),
      collections_(std::make_unique<Collections>(
          Collections{.service_accounts = store.collection("serviceaccounts"),
                      .pods = store.collection("pods"),
                      .secrets = store.collection("secrets"),
                      .nodes = store.collection("nodes")})) {
  if (options_.audiences.empty()) {
    options_.audiences = {options_.issuer};
  }
}

ServiceAccountTokens::~ServiceAccountTokens() = default;

std::string ServiceAccountTokens::issue(const Request& request) {
  std::int64_t now = seconds_of(env_.clock.wall());
  TokenClaims claims{
      .issuer = options_.issuer,
      .subject = service_account_user_name(request.ns, request.service_account.name),
      .audiences = request.audiences.empty() ? options_.audiences : request.audiences,
      .expires = now + request.lifetime.count(),
      .not_before = now,
      .issued_at = now,
      .id = env_.random.uuid(),
      .ns = request.ns,
      .service_account = request.service_account,
      .pod = request.pod,
      .secret = request.secret,
      .node = request.node};
  if (request.warn_after) {
    claims.warn_after = now + request.warn_after->count();
  }
  return sign_token(key_, claims);
}

Result<std::optional<TokenAnswer>> ServiceAccountTokens::check(
    std::string_view token, const std::vector<std::string>& audiences) {
  TRY_ASSIGN(std::optional<TokenClaims> claims, verify(token));
  if (!claims) {
    return std::nullopt;
  }
  const std::vector<std::string>& wanted = audiences.empty() ? options_.audiences : audiences;
  const std::vector<std::string>& offered =
      claims->audiences.empty() ? options_.audiences : claims->audiences;
  std::vector<std::string> both = common(offered, wanted);
  if (both.empty()) {
    return fail(unauthenticated("token audiences " + internal::quote_list(offered) +
                                " is invalid for the target audiences " +
                                internal::quote_list(wanted)));
  }
  TRY(check_times(*claims));
  TRY(check_objects(*claims));
  return TokenAnswer{user_of(*claims), std::move(both)};
}

Result<std::optional<TokenClaims>> ServiceAccountTokens::verify(std::string_view token) {
  std::string digest = internal::sha256(token);
  if (auto found = verified_.find(digest); found != verified_.end()) {
    return found->second;
  }
  auto parsed = parse_token(token);
  if (!parsed || parsed->claims.issuer != options_.issuer) {
    return std::nullopt;
  }
  if (!parsed->key_id.empty() && parsed->key_id != key_.id()) {
    return fail(unauthenticated("invalid signature, no keys found"));
  }
  if (parsed->algorithm != "ES256" || !key_.verify(parsed->signed_part, parsed->signature)) {
    return fail(unauthenticated("invalid signature"));
  }
  if (verified_.size() >= kVerifiedMax) {
    verified_.clear();
  }
  verified_.emplace(std::move(digest), parsed->claims);
  return std::move(parsed->claims);
}

Result<void> ServiceAccountTokens::check_times(const TokenClaims& claims) const {
  std::int64_t now = seconds_of(env_.clock.wall());
  if (claims.not_before && now + kLeeway.count() < *claims.not_before) {
    return fail(unauthenticated("service account token is not valid yet"));
  }
  if (claims.expires && now - kLeeway.count() > *claims.expires) {
    return fail(unauthenticated("service account token has expired"));
  }
  if (claims.issued_at && now + kLeeway.count() < *claims.issued_at) {
    return fail(unauthenticated("service account token is issued in the future"));
  }
  return {};
}

Result<void> ServiceAccountTokens::check_objects(const TokenClaims& claims) const {
  const TokenClaims::Ref& wanted = claims.service_account;
  ObjectPtr account = store_.get(collections_->service_accounts, claims.ns, wanted.name);
  if (account == nullptr) {
    return fail(unauthenticated("serviceaccounts " + quote(wanted.name) + " not found"));
  }
  if (account->uid() != wanted.uid) {
    return fail(unauthenticated("service account UID (" + std::string(account->uid()) +
                                ") does not match claim (" + wanted.uid + ")"));
  }
  if (has_gone(*account)) {
    return fail(
        unauthenticated("service account " + claims.ns + '/' + wanted.name + " has been deleted"));
  }
  auto check_bound = [&](CollectionId collection, std::string_view ns, const TokenClaims::Ref& ref,
                         const std::string& what) -> Result<void> {
    ObjectPtr object = store_.get(collection, ns, ref.name);
    if (object == nullptr) {
      return fail(invalidated());
    }
    if (object->uid() != ref.uid) {
      return fail(unauthenticated(what + " UID (" + std::string(object->uid()) +
                                  ") does not match service account " + what + " ref claim (" +
                                  ref.uid + ")"));
    }
    return has_gone(*object) ? Result<void>(fail(invalidated())) : Result<void>();
  };
  if (claims.secret) {
    TRY(check_bound(collections_->secrets, claims.ns, *claims.secret, "secret"));
  }
  if (claims.pod) {
    TRY(check_bound(collections_->pods, claims.ns, *claims.pod, "pod"));
  } else if (claims.node) {
    // With a pod it only says where that ran.
    TRY(check_bound(collections_->nodes, "", *claims.node, "node"));
  }
  return {};
}

// A deletion that is a little while back; until then what is ending may still use its token.
bool ServiceAccountTokens::has_gone(const Object& object) const {
  if (!object.is_being_deleted()) {
    return false;
  }
  constexpr std::array<std::string_view, 1> kPaths = {"metadata.deletionTimestamp"};
  std::array<std::string_view, 1> slices;
  json::Arena arena;
  if (!json::scan(object.json(), kPaths, slices)) {
    return true;
  }
  auto text = json::unquote(slices[0], arena);
  auto time = text ? parse_rfc3339(*text) : fail(text.error());
  return !time || *time < env_.clock.wall() - kLeeway;
}

}  // namespace codeflare::apiserver
