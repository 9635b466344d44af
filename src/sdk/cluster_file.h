#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "json/value.h"
#include "sdk/cluster_config.h"

#include <string>
#include <string_view>

// `NAME.yaml` in the working directory: what `define` writes and `create` submits as it stands.
namespace codeflare::sdk {

std::string cluster_file_name(std::string_view name);

// The text of the file: a first line by which an edit can be noticed, then cluster_yaml().
std::string cluster_file_text(const ClusterConfig& config);
// Writes the file, replacing it as a whole. A file that somebody has edited, or that is not
// a definition, is kept: already_exists, unless `force`.
Result<void> write_cluster_file(FileSystem& files, const std::string& path,
                                const ClusterConfig& config, bool force);

// Somebody has changed the file since write_cluster_file(), or wrote it. False: there is none.
Result<bool> is_edited_cluster_file(FileSystem& files, const std::string& path);

// The manifest in a file: one AppWrapper with a RayCluster, or one RayCluster. Its name must be
// `name`, unless that is empty.
Result<json::Document> read_cluster_file(FileSystem& files, const std::string& path,
                                         std::string_view name);

}  // namespace codeflare::sdk
