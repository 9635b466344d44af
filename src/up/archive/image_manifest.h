#pragma once

#include "base/result.h"
#include "model/meta.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

// One image of an archive: which of its files are the configuration and the layers, lowest first.
struct ArchivedImage {
  std::vector<std::string> names;  // "codeflare:0.1.0"; empty: it has none
  std::string config;
  std::vector<std::string> layers;

  friend bool operator==(const ArchivedImage&, const ArchivedImage&) = default;
};

// The image's settings for its containers.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> args;
  model::StringMap env;
  std::string workdir;
  std::string user;  // "", "65532", "nonroot:nonroot"

  friend bool operator==(const ImageConfig&, const ImageConfig&) = default;
};

// manifest.json of `docker save` and `podman save`.
Result<std::vector<ArchivedImage>> read_docker_manifest(std::string_view text);

// index.json of an OCI layout leads to manifests, and may lead to further indexes: those of this
// machine's architecture count. `blobs` are the small files of the archive by their path.
Result<std::vector<ArchivedImage>> read_oci_index(std::string_view text,
                                                  const std::map<std::string, std::string>& blobs,
                                                  std::string_view architecture);

Result<ImageConfig> read_image_config(std::string_view text);

// Numbers of the user and group that the configuration means; names are looked up in the image's
// own files.
struct ImageUser {
  std::int64_t user = 0;
  std::int64_t group = 0;

  friend bool operator==(const ImageUser&, const ImageUser&) = default;
};
Result<ImageUser> find_user(std::string_view user, std::string_view passwd, std::string_view group);

}  // namespace codeflare::up
