#pragma once

#include "apiserver/crd/names.h"
#include "apiserver/registry/resource.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The view of the other definitions that the strategy of CustomResourceDefinitions needs.
class DefinitionWorld {
 public:
  virtual ~DefinitionWorld() = default;
  // Names in use in the group, by definitions other than `except`.
  virtual ClaimedNames claimed(std::string_view group, std::string_view except) const = 0;
  // The definition was given its names and is about to be written, in this turn of the loop: they
  // are claimed until it is known how that ends.
  virtual void reserve(const json::Value& definition) = 0;
  virtual void validate(const json::Value& definition, const json::Value* old,
                        std::vector<std::string>* warnings, FieldErrors& errors) = 0;
  virtual bool has_instances(const json::Value& definition) const = 0;
};

// Defaults, status and validation of CustomResourceDefinitions; a definition with instances stays
// until they are gone.
std::shared_ptr<const Strategy> make_definition_strategy(std::shared_ptr<DefinitionWorld> world);

void remove_cleanup_finalizer(json::Value& definition);

}  // namespace codeflare::apiserver
