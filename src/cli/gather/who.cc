#include "cli/gather/who.h"

#include "sdk/login.h"

namespace codeflare::cli {

Task<Result<std::string>> user_of(Session& session) {
  CO_TRY_ASSIGN(const sdk::Identity identity, co_await sdk::who_am_i(session.client()));
  if (identity.user.empty()) {
    co_return fail(failed_precondition("the server does not say who you are; use --user NAME"));
  }
  co_return identity.user;
}

}  // namespace codeflare::cli
