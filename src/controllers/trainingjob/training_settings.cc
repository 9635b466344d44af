#include "controllers/trainingjob/training_settings.h"

#include "model/validation.h"

#include <cstddef>

namespace codeflare::controllers::trainingjob {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

elastic::EtcdEndpoint LatticeSettings::etcd() const {
  return {.host = rdzv_endpoint, .port = std::to_string(rdzv_port), .conf = rdzv_conf};
}

std::map<std::string, std::string> setting_texts(const TrainingSettings& settings) {
  const LatticeSettings usual;
  const LatticeSettings& lattice = settings.lattice;
  std::map<std::string, std::string> texts;
  const auto add = [&](const char* name, const std::string& value, const std::string& fallback) {
    if (value != fallback) {
      texts[name] = value;
    }
  };
  add("resource-scheduling-unit", settings.unit, "");
  add("addons-checkpoint-type", lattice.checkpoint_type, usual.checkpoint_type);
  add("checkpoint-service-endpoint", lattice.checkpoint_endpoint, usual.checkpoint_endpoint);
  add("checkpoint-service-port", std::to_string(lattice.checkpoint_port),
      std::to_string(usual.checkpoint_port));
  add("rdzv-backend", lattice.rdzv_backend, usual.rdzv_backend);
  add("rdzv-service-endpoint", lattice.rdzv_endpoint, usual.rdzv_endpoint);
  add("rdzv-service-port", std::to_string(lattice.rdzv_port), std::to_string(usual.rdzv_port));
  add("rdzv-conf", lattice.etcd().uses_tls() ? "protocol=https" : "", "");
  return texts;
}

Result<model::StringMap> parse_selector(std::string_view text) {
  model::StringMap selector;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string line(trimmed(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::string key(trimmed(std::string_view(line).substr(0, equals)));
    if (equals == std::string::npos || !model::check_qualified_name(key).empty()) {
      return fail(invalid_argument("line " + std::to_string(number) + ": \"" + line +
                                   "\" is not key=value with the key of a node label"));
    }
    selector.insert_or_assign(key, std::string(trimmed(std::string_view(line).substr(equals + 1))));
  }
  return selector;
}

}  // namespace codeflare::controllers::trainingjob
