#include "up/service_unit.h"

#include <algorithm>

namespace codeflare::up {

namespace {

constexpr std::string_view kName = "codeflare.service";

// As ExecStart= reads words: in quotes, where % and $ mean something unless doubled.
std::string quoted(std::string_view word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '%' || c == '$') {
      text += c;
    } else if (c == '"' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::vector<std::string> service_arguments(std::string_view cmdline) {
  std::vector<std::string> words;
  bool program = true;
  while (!cmdline.empty()) {
    const std::string_view word = cmdline.substr(0, cmdline.find('\0'));
    cmdline.remove_prefix(std::min(word.size() + 1, cmdline.size()));
    if (!program && word != "--install-service" && word != "--detach") {
      words.emplace_back(word);
    }
    program = false;
  }
  return words;
}

std::string service_unit_text(const ServiceUnit& unit) {
  std::string command = quoted(unit.program);
  for (const std::string& word : unit.arguments) {
    command += " " + quoted(word);
  }
  return "[Unit]\n"
         "Description=codeflare up: a cluster on this machine\n"
         "After=network.target\n"
         "\n"
         "[Service]\n"
         "ExecStart=" +
         command +
         "\n"
         "KillMode=mixed\n"
         "TimeoutStopSec=120\n"
         "Restart=on-failure\n"
         "Delegate=yes\n"
         "\n"
         "[Install]\n"
         "WantedBy=" +
         std::string(unit.of_user ? "default.target" : "multi-user.target") + "\n";
}

std::string service_unit_path(bool of_user, const std::string& config_home) {
  return (of_user ? config_home + "/systemd/user/" : "/etc/systemd/system/") + std::string(kName);
}

}  // namespace codeflare::up
