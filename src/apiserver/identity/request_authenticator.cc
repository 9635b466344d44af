#include "apiserver/identity/request_authenticator.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kUnauthenticated = "system:unauthenticated";

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The word behind "Bearer"; nothing when the header speaks of something else.
std::optional<std::string_view> bearer_token(const net::Request& request) {
  auto header = request.headers.get("Authorization");
  if (!header) {
    return std::nullopt;
  }
  std::string_view text = trim(*header);
  std::size_t space = text.find(' ');
  if (space == std::string_view::npos ||
      !net::equal_ignoring_case(text.substr(0, space), "bearer")) {
    return std::nullopt;
  }
  std::string_view token = text.substr(space + 1);
  token = token.substr(0, token.find(' '));
  return token.empty() ? std::nullopt : std::optional(token);
}

bool is_health_path(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"/healthz", "/livez", "/readyz"},
      [&](std::string_view one) {
        return path.starts_with(one) && (path.size() == one.size() || path[one.size()] == '/');
      });
}

User user_of(const net::Peer::Certificate& certificate) {
  User user{.name = certificate.common_name, .groups = certificate.organizations};
  if (!certificate.sha256.empty()) {
    user.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + certificate.sha256};
  }
  return user;
}

}  // namespace

void add_authenticated_group(User& user) {
  bool decided = std::ranges::any_of(user.groups, [](const std::string& group) {
    return group == kAuthenticated || group == kUnauthenticated;
  });
  if (!decided) {
    user.groups.emplace_back(kAuthenticated);
  }
}

RequestAuthenticator::RequestAuthenticator(StaticTokens static_tokens, ServiceAccountTokens& tokens)
    : static_tokens_(std::move(static_tokens)), tokens_(tokens) {}

Task<Result<User>> RequestAuthenticator::authenticate(const net::Request& request) {
  co_return decide(request);
}

Result<User> RequestAuthenticator::decide(const net::Request& request) {
  const net::Peer* peer = request.peer.get();
  bool foreign = peer != nullptr && peer->foreign_certificate;
  if (peer != nullptr && !foreign && peer->certificate && !peer->certificate->common_name.empty()) {
    User user = user_of(*peer->certificate);
    add_authenticated_group(user);
    return user;
  }
  if (auto token = bearer_token(request)) {
    TRY_ASSIGN(TokenAnswer answer, check_token(*token, {}));
    return std::move(answer.user);
  }
  if (foreign) {
    return fail(unauthenticated("the client certificate is signed by an unknown authority"));
  }
  if (is_health_path(request.target)) {
    return User{.name = "system:anonymous", .groups = {std::string(kUnauthenticated)}};
  }
  return fail(unauthenticated("no credentials"));
}

Result<TokenAnswer> RequestAuthenticator::check_token(std::string_view token,
                                                      const std::vector<std::string>& audiences) {
  TokenAnswer answer;
  if (const User* user = static_tokens_.find(token)) {
    // Such tokens say nothing about audiences: they are the server's own.
    const std::vector<std::string>& wanted = audiences.empty() ? tokens_.audiences() : audiences;
    for (const std::string& one : wanted) {
      if (std::ranges::find(tokens_.audiences(), one) != tokens_.audiences().end()) {
        answer.audiences.push_back(one);
      }
    }
    if (answer.audiences.empty()) {
      return fail(unauthenticated("invalid bearer token"));
    }
    answer.user = *user;
  } else {
    TRY_ASSIGN(std::optional<TokenAnswer> found, tokens_.check(token, audiences));
    if (!found) {
      return fail(unauthenticated("invalid bearer token"));
    }
    answer = *std::move(found);
  }
  add_authenticated_group(answer.user);
  return answer;
}

}  // namespace codeflare::apiserver
