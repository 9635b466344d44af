#include "node/agent/resolv_conf.h"

#include "json/parse.h"
#include "node/wire/holder_protocol.h"

#include <algorithm>
#include <vector>

namespace codeflare::node {

namespace {

struct Settings {
  std::vector<std::string> nameservers;
  std::vector<std::string> searches;
  std::vector<std::string> options;
};

std::vector<std::string> strings_at(const json::Value& object, std::string_view name) {
  std::vector<std::string> texts;
  const json::Value* list = object.find(name);
  if (list != nullptr && list->is_array()) {
    for (const json::Value& item : list->items()) {
      if (item.is_string()) {
        texts.emplace_back(item.as_string());
      }
    }
  }
  return texts;
}

std::string text_at(const json::Value& object, std::string_view name) {
  const json::Value* found = object.find(name);
  return found == nullptr || !found->is_string() ? std::string() : std::string(found->as_string());
}

void add(std::vector<std::string>& to, std::vector<std::string> more) {
  for (std::string& one : more) {
    if (std::ranges::find(to, one) == to.end()) {
      to.push_back(std::move(one));
    }
  }
}

// Adds the settings of dnsConfig.
void add_config(const model::Pod& pod, Settings& settings) {
  const std::string_view text = pod.spec.extra.find("dnsConfig");
  const Result<json::Document> config = json::parse(text.empty() ? "{}" : text);
  if (!config || !config->root.is_object()) {
    return;
  }
  add(settings.nameservers, strings_at(config->root, "nameservers"));
  add(settings.searches, strings_at(config->root, "searches"));
  const json::Value* options = config->root.find("options");
  if (options == nullptr || !options->is_array()) {
    return;
  }
  for (const json::Value& option : options->items()) {
    const std::string name = option.is_object() ? text_at(option, "name") : std::string();
    if (name.empty()) {
      continue;
    }
    // The pod's own word replaces ours.
    std::erase_if(settings.options, [&](const std::string& known) {
      return known == name || known.starts_with(name + ":");
    });
    const std::string value = text_at(option, "value");
    settings.options.push_back(value.empty() ? name : name + ":" + value);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += " " + word;
  }
  return text;
}

}  // namespace

std::string resolv_conf(const model::Pod& pod, const std::string& nameserver,
                        const std::string& machine) {
  const std::string& policy = pod.spec.dns_policy;
  if (pod.spec.host_network && policy != "None") {
    return machine;
  }
  Settings settings;
  if (policy != "None") {
    // The machine's name servers are out of reach: "Default" has the cluster's too.
    const std::string services = "svc." + std::string(kClusterDomain);
    settings.nameservers = {nameserver};
    settings.searches = {pod.metadata.ns + "." + services, services, std::string(kClusterDomain)};
    settings.options = {"ndots:5"};
  }
  add_config(pod, settings);
  std::string text;
  for (const std::string& one : settings.nameservers) {
    text += "nameserver " + one + "\n";
  }
  if (!settings.searches.empty()) {
    text += "search" + joined(settings.searches) + "\n";
  }
  if (!settings.options.empty()) {
    text += "options" + joined(settings.options) + "\n";
  }
  return text;
}

}  // namespace codeflare::node
