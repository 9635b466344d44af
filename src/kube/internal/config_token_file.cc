#include "kube/internal/config_token_file.h"

#include "kube/internal/config_user.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr Duration kPeriod = std::chrono::seconds(60);
// After a failure the old token serves on, and the file is tried sooner.
constexpr Duration kRetryPeriod = std::chrono::seconds(10);
constexpr std::size_t kTokenBytesMax = std::size_t{1} << 20;

CredentialRef bearer(const Secret& token) {
  auto credential = std::make_shared<Credential>();
  credential->authorization = Secret("Bearer " + token.reveal());
  return credential;
}

}  // namespace

TokenFileSource::TokenFileSource(Env env, BearerTokenFile file)
    : env_(env), file_(std::move(file)) {
  if (!file_.fallback.empty()) {
    cached_ = bearer(file_.fallback);
  }
}

Task<Result<CredentialRef>> TokenFileSource::get() {
  if (!read_at_ || env_.clock.now() - *read_at_ >= kPeriod) {
    Result<void> read = co_await flight_.run([this] { return read_again(); });
    if (!read && (cached_ == nullptr || read.error().code == ErrorCode::cancelled)) {
      co_return fail(std::move(read).error());
    }
    if (!read) {
      read_at_ = env_.clock.now() - (kPeriod - kRetryPeriod);
    }
  }
  co_return cached_;
}

void TokenFileSource::refused(const CredentialRef& used) {
  if (cached_ == used) {
    read_at_.reset();
  }
}

Task<Result<void>> TokenFileSource::read_again() {
  FileSystem& files = env_.files;
  std::string path = file_.path;
  Result<std::string> text =
      co_await run_blocking(env_, [&] { return files.read(path, kTokenBytesMax); });
  if (!text) {
    co_return fail(unauthenticated("token file: " + text.error().message));
  }
  Result<Secret> token = clean_token(*text);
  if (!token) {
    co_return fail(unauthenticated("token file " + path + ": " + token.error().message));
  }
  read_at_ = env_.clock.now();
  CredentialRef fresh = bearer(*token);
  if (cached_ == nullptr || cached_->authorization != fresh->authorization) {
    cached_ = std::move(fresh);
  }
  co_return Result<void>();
}

}  // namespace codeflare::kube::internal
