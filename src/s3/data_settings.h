#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "s3/signature.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::s3 {

// The command line of `codeflare data`.
struct DataSettings {
  enum class Verb : std::uint8_t { help, get, put, install };
  Verb verb = Verb::help;
  std::string endpoint{};
  std::string bucket{};
  std::string prefix{};
  std::string region = "us-east-1";
  std::string keys_directory{};
  std::string state_file{};
  std::string directory{};
  std::vector<std::string> command{};  // of put: run first
};

Result<DataSettings> read_data_settings(const std::vector<std::string>& words);
std::string data_usage();

// From the files accessKeyID, secretAccessKey and sessionToken of a directory; else from the
// variables of AWS; else none. A directory with ca.crt alone has none either.
Result<Credentials> read_credentials(FileSystem& files, const Variables& variables,
                                     const std::string& keys_directory);

// Certificates of the authority of the store, from the file ca.crt of that directory, else from the
// file that AWS_CA_BUNDLE names. Empty: the system's.
Result<std::string> read_authority(FileSystem& files, const Variables& variables,
                                   const std::string& keys_directory);

}  // namespace codeflare::s3
