#include "s3/data_settings.h"

#include "s3/copy.h"

#include <utility>

namespace codeflare::s3 {

namespace {

std::unexpected<Error> usage(std::string text) {
  return fail(invalid_argument(std::move(text) + "; run 'codeflare data --help' for usage"));
}

std::string* option_of(DataSettings& settings, std::string_view name) {
  if (name == "endpoint") {
    return &settings.endpoint;
  }
  if (name == "bucket") {
    return &settings.bucket;
  }
  if (name == "prefix") {
    return &settings.prefix;
  }
  if (name == "region") {
    return &settings.region;
  }
  if (name == "keys") {
    return &settings.keys_directory;
  }
  return name == "state" ? &settings.state_file : nullptr;
}

Result<DataSettings::Verb> verb_of(const std::string& word) {
  if (word == "get") {
    return DataSettings::Verb::get;
  }
  if (word == "put") {
    return DataSettings::Verb::put;
  }
  if (word == "install") {
    return DataSettings::Verb::install;
  }
  if (word == "--help" || word == "-h" || word == "help") {
    return DataSettings::Verb::help;
  }
  return usage("'" + word + "' is not one of get, put and install");
}

Result<void> check(const DataSettings& settings) {
  if (settings.directory.empty()) {
    return usage("the directory is missing");
  }
  if (settings.verb == DataSettings::Verb::install) {
    return {};
  }
  if (settings.endpoint.empty() || settings.bucket.empty()) {
    return usage("--endpoint and --bucket are required");
  }
  if (!settings.command.empty() && settings.verb != DataSettings::Verb::put) {
    return usage("only put runs a command");
  }
  return {};
}

// Of the Secret of a data set.
constexpr const char* kAuthorityFile = "ca.crt";

// A Secret made from a file often ends with a newline, which no key has.
std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

}  // namespace

Result<DataSettings> read_data_settings(const std::vector<std::string>& words) {
  DataSettings settings;
  if (words.empty()) {
    return usage("get, put or install is missing");
  }
  TRY_ASSIGN(settings.verb, verb_of(words[0]));
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      settings.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word == "--help" || word == "-h") {
      settings.verb = DataSettings::Verb::help;
    } else if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      std::string* option = option_of(settings, std::string_view(word).substr(2, equals - 2));
      if (option == nullptr) {
        return usage("option " + word.substr(0, equals) + " is unknown");
      }
      if (equals == std::string::npos && i + 1 == words.size()) {
        return usage("option " + word + " needs a value");
      }
      *option = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
    } else if (settings.directory.empty()) {
      settings.directory = word;
    } else {
      return usage("'" + word + "' is one word too many");
    }
  }
  if (settings.verb != DataSettings::Verb::help) {
    TRY(check(settings));
  }
  settings.prefix = directory_prefix(settings.prefix);
  return settings;
}

std::string data_usage() {
  return "Usage: codeflare data get [options] DIRECTORY\n"
         "       codeflare data put [options] DIRECTORY [-- COMMAND...]\n"
         "       codeflare data install DIRECTORY\n\n"
         "get copies the objects of a bucket into DIRECTORY. put copies new and changed files "
         "back;\n"
         "with COMMAND, after COMMAND has succeeded. install copies this program into DIRECTORY.\n"
         "Pods of Runs with S3 data sets run these commands.\n\n"
         "Options:\n"
         "  --endpoint URL   of the object store\n"
         "  --bucket NAME    bucket\n"
         "  --prefix DIR     directory of the bucket (default: all of it)\n"
         "  --region NAME    region (default: us-east-1)\n"
         "  --keys DIR       directory with the files accessKeyID and secretAccessKey (default: "
         "the\n"
         "                   variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; else "
         "anonymous);\n"
         "                   ca.crt there has the certificates of the store's authority (default: "
         "the file\n"
         "                   of AWS_CA_BUNDLE; else the system's)\n"
         "  --state FILE     list of copied files; get writes it, put compares with it\n";
}

Result<Credentials> read_credentials(FileSystem& files, const Variables& variables,
                                     const std::string& keys_directory) {
  Credentials credentials;
  if (keys_directory.empty()) {
    credentials.key_id = variables.get("AWS_ACCESS_KEY_ID").value_or("");
    credentials.secret = Secret(variables.get("AWS_SECRET_ACCESS_KEY").value_or(""));
    credentials.session_token = Secret(variables.get("AWS_SESSION_TOKEN").value_or(""));
    return credentials;
  }
  const auto read = [&](const char* name) {
    return files.read(join_path(keys_directory, name), 64u << 10);
  };
  Result<std::string> id = read("accessKeyID");
  Result<std::string> secret = read("secretAccessKey");
  if (!id && !secret && files.exists(join_path(keys_directory, kAuthorityFile))) {
    return credentials;
  }
  if (!id || !secret) {
    return fail(permission_denied("the Secret of the data set has no key " +
                                  std::string(!id ? "accessKeyID" : "secretAccessKey")));
  }
  credentials.key_id = trimmed(*std::move(id));
  credentials.secret = Secret(trimmed(*std::move(secret)));
  credentials.session_token = Secret(trimmed(read("sessionToken").value_or("")));
  return credentials;
}

Result<std::string> read_authority(FileSystem& files, const Variables& variables,
                                   const std::string& keys_directory) {
  const std::string own =
      keys_directory.empty() ? std::string() : join_path(keys_directory, kAuthorityFile);
  const std::string path =
      !own.empty() && files.exists(own) ? own : variables.get("AWS_CA_BUNDLE").value_or("");
  if (path.empty()) {
    return std::string();
  }
  return files.read(path, 4u << 20);
}

}  // namespace codeflare::s3
