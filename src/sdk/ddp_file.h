#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "json/value.h"
#include "sdk/ddp_job.h"

#include <string>
#include <string_view>

// `NAME.job.yaml` in the working directory: the arguments of a DDPJobDefinition, which `define job`
// writes and `submit job` reads.
namespace codeflare::sdk {

std::string ddp_file_name(std::string_view name);

// The arguments as people read and edit them; `definition` has a name, and passes read_ddp().
std::string ddp_yaml(const json::Value& definition);

// The definition in a file. Its name must be `name`, or be left out.
Result<DdpDefinition> read_ddp_file(FileSystem& files, const std::string& path,
                                    std::string_view name);

}  // namespace codeflare::sdk
