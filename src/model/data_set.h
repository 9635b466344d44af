#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// DataSet (codeflare.dev/v1alpha1): input that Applications mount or read from variables. Exactly
// one source is set.
namespace codeflare::model {

struct DataSetNfs {
  std::string server;
  std::string path;
  Extra extra;

  friend bool operator==(const DataSetNfs&, const DataSetNfs&) = default;
};

struct DataSetPvc {
  std::string claim_name;
  std::string sub_path;  // of the volume; empty: all of it
  Extra extra;

  friend bool operator==(const DataSetPvc&, const DataSetPvc&) = default;
};

struct SecretName {
  std::string name;
  Extra extra;

  friend bool operator==(const SecretName&, const SecretName&) = default;
};

// A directory of a bucket.
struct DataSetS3 {
  std::string endpoint;  // "https://s3.eu-west-1.amazonaws.com"
  std::string bucket;
  std::string prefix;  // directory; empty: the whole bucket
  std::string region;
  // In the namespace of the DataSet, with the keys accessKeyID and secretAccessKey (absent:
  // anonymous), and ca.crt for a store with its own certificate authority.
  std::optional<SecretName> secret;
  Extra extra;

  friend bool operator==(const DataSetS3&, const DataSetS3&) = default;
};

struct DataSetSpec {
  StringMap inline_files;  // file name to text
  std::optional<DataSetNfs> nfs;
  std::optional<DataSetPvc> pvc;
  std::optional<DataSetS3> s3;
  std::optional<bool> read_only;         // true when absent
  List<std::string> allowed_namespaces;  // besides its own; "*": all
  std::string description;
  Extra extra;

  friend bool operator==(const DataSetSpec&, const DataSetSpec&) = default;
};

// Of Applications and DataSets: whether Runs can use them.
struct ReadyStatus {
  List<Condition> conditions;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const ReadyStatus&, const ReadyStatus&) = default;
};

struct DataSet {
  ObjectMeta metadata;
  DataSetSpec spec;
  ReadyStatus status;
  Extra extra;

  friend bool operator==(const DataSet&, const DataSet&) = default;
};

template <>
struct ResourceTraits<DataSet> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "DataSet";
  static constexpr std::string_view plural = "datasets";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
