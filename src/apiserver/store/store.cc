#include "apiserver/store/store.h"

#include "apiserver/store/internal/store_impl.h"

#include <utility>

namespace codeflare::apiserver {

Task<Result<std::unique_ptr<Store>>> Store::open(Env env, std::unique_ptr<Log> log, Options options,
                                                 Logger logger, MetricsRegistry& metrics) {
  auto store =
      std::make_unique<StoreImpl>(env, std::move(log), options, std::move(logger), metrics);
  CO_TRY(co_await store->load());
  co_return std::move(store);
}

Task<Result<ObjectPtr>> Store::commit(Write write) {
  std::vector<Write> writes;
  writes.push_back(std::move(write));
  CO_TRY_ASSIGN(std::vector<ObjectPtr> objects, co_await commit(std::move(writes)));
  co_return std::move(objects.front());
}

}  // namespace codeflare::apiserver
