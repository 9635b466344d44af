#pragma once

#include "base/env/env.h"
#include "elastic/store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace codeflare::elastic::testing {

// One backend with an empty job, as the claims in store_claims.cc need it. A program that lists
// store_claims.cc among its sources runs them for the worlds that it instantiates.
class StoreWorld {
 public:
  virtual ~StoreWorld() = default;
  virtual Env env() = 0;
  // Another client of the same job.
  virtual std::unique_ptr<Store> connect() = 0;
  // Ends all open streams as a lost connection would.
  virtual void break_streams() = 0;
  // The shortest lease that the backend keeps exactly enough.
  virtual Duration ttl() const = 0;
};

using MakeStoreWorld = std::unique_ptr<StoreWorld> (*)();

class StoreTest : public ::testing::TestWithParam<MakeStoreWorld> {
 protected:
  template <typename T>
  T wait(Task<T> task) {
    return *run(world_->env().loop, std::move(task));
  }
  StoreEntry get(Store& store, StoreKey key);
  bool swap(Store& store, StoreKey key, const std::string& value, const std::string& version);
  void put(Store& store, StoreKey key, const std::string& value);

  std::unique_ptr<StoreWorld> world_ = GetParam()();
};

}  // namespace codeflare::elastic::testing
