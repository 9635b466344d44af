#pragma once

#include "model/extra.h"
#include "model/labels.h"
#include "model/meta.h"
#include "model/resources.h"

#include <optional>
#include <string>
#include <string_view>

// PlatformRepoSecret (codeflare.dev/v1alpha1): a credential for the repositories of Applications.
namespace codeflare::model {

struct SecretReference {
  std::string name;
  std::string ns;
  Extra extra;

  friend bool operator==(const SecretReference&, const SecretReference&) = default;
};

struct PlatformRepoSecretSpec {
  std::string repo;        // "github.example.com", "https://github.com/org/*"
  SecretReference secret;  // keys user and pat
  std::optional<LabelSelector> namespace_selector;
  Extra extra;

  friend bool operator==(const PlatformRepoSecretSpec&, const PlatformRepoSecretSpec&) = default;
};

struct PlatformRepoSecret {
  ObjectMeta metadata;
  PlatformRepoSecretSpec spec;
  Extra extra;

  friend bool operator==(const PlatformRepoSecret&, const PlatformRepoSecret&) = default;
};

template <>
struct ResourceTraits<PlatformRepoSecret> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "PlatformRepoSecret";
  static constexpr std::string_view plural = "platformreposecrets";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
