#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"
#include "base/env/random.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// Gives services their cluster address (10.96.0.0/12) and node ports (30000-32767). Existing
// services and writes on their way tell which addresses are taken.
class AddressAdmission final : public Admission {
 public:
  AddressAdmission(Store& store, Random& random);
  Result<void> mutate(AdmissionRequest& request) override;

 private:
  // Numbers of one kind that services hold; counted, because a write on its way may hold what its
  // service holds already.
  class Pool {
   public:
    Pool(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}
    bool contains(std::uint32_t number) const { return number - first_ < count_; }
    bool taken(std::uint32_t number) const { return held_.contains(number); }
    void hold(std::uint32_t number) { ++held_[number]; }
    void release(std::uint32_t number);
    // One that nobody holds; nothing when all are taken.
    std::optional<std::uint32_t> pick(Random& random) const;

   private:
    std::uint32_t first_;
    std::uint32_t count_;
    std::map<std::uint32_t, int> held_;
  };
  struct Numbers {
    std::optional<std::uint32_t> address;
    std::set<std::uint32_t> ports;
  };

  static Numbers numbers_of(const json::Value& service);
  void account(const Object& service, bool holds);
  Result<void> give_address(AdmissionRequest& request, json::Value& spec);
  Result<void> give_ports(AdmissionRequest& request, const Numbers& old, json::Value& spec);
  Result<void> give_health_port(AdmissionRequest& request, const Numbers& old, json::Value& spec);
  Result<void> take_port(AdmissionRequest& request, const Numbers& old, const std::string& field,
                         std::uint32_t number);
  void reserve(AdmissionRequest& request, Pool& pool, std::uint32_t number) const;

  CollectionId services_;
  Random& random_;
  Pool addresses_;
  Pool ports_;
};

}  // namespace codeflare::apiserver
