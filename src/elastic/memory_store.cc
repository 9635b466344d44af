#include "elastic/memory_store.h"

#include "base/async/sleep.h"

#include <utility>

namespace codeflare::elastic {

class MemoryStore::Watch final : public StoreWatch {
 public:
  Watch(MemoryStore& store, StoreKey key) : store_(store), key_(key) {}

  Task<Result<StoreEntry>> next() override {
    while (true) {
      StoreEntry now = store_.entry(key_);
      if (!seen_ || now.value != *seen_) {
        seen_ = now.value;
        co_return now;
      }
      CO_TRY(co_await store_.changed_.wait());
    }
  }

 private:
  MemoryStore& store_;
  StoreKey key_;
  std::optional<std::optional<std::string>> seen_;
};

MemoryStore::~MemoryStore() {
  for (const auto& [key, kept] : kept_) {
    if (kept.lease) {
      loop_.cancel_timer(*kept.lease);
    }
  }
}

StoreEntry MemoryStore::entry(const StoreKey& key) const {
  auto at = kept_.find(key);
  if (at == kept_.end()) {
    return {.value = {}, .version = "0"};
  }
  return {.value = at->second.value, .version = std::to_string(at->second.revision)};
}

void MemoryStore::write(const StoreKey& key, std::optional<std::string> value) {
  Kept& kept = kept_[key];
  if (kept.value != value) {
    kept.value = std::move(value);
    kept.revision = ++revision_;
    changed_.notify_all();
  }
}

Task<Result<StoreEntry>> MemoryStore::get(StoreKey key) {
  co_return entry(key);
}

std::unique_ptr<StoreWatch> MemoryStore::watch(StoreKey key) {
  return std::make_unique<Watch>(*this, key);
}

Task<Result<void>> MemoryStore::put(StoreKey key, std::string value, Duration ttl) {
  Kept& kept = kept_[key];
  if (kept.lease) {
    loop_.cancel_timer(*kept.lease);
  }
  kept.lease = loop_.start_timer(after(loop_.now(), ttl), [this, key] {
    kept_[key].lease.reset();
    write(key, std::nullopt);
  });
  write(key, std::move(value));
  co_return Result<void>();
}

Task<Result<void>> MemoryStore::swap(StoreKey key, std::string value, std::string version) {
  if (entry(key).version != version) {
    co_return fail(conflict(key.to_string() + " was written by somebody else"));
  }
  write(key, std::move(value));
  co_return Result<void>();
}

}  // namespace codeflare::elastic
