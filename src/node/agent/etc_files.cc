#include "node/agent/etc_files.h"

namespace codeflare::node {

namespace {

std::string hosts_of(const model::Pod& pod, const std::string& hostname,
                     const std::string& address) {
  std::string text =
      "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" + address + "\t" +
      (pod.spec.subdomain.empty() ? hostname
                                  : hostname + "." + pod.spec.subdomain + "." + pod.metadata.ns +
                                        ".svc.cluster.local\t" + hostname) +
      "\n";
  for (const model::HostAlias& alias : pod.spec.host_aliases) {
    text += alias.ip + "\t";
    for (std::size_t i = 0; i < alias.hostnames.size(); ++i) {
      text += (i > 0 ? " " : "") + alias.hostnames[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::vector<EtcFile> etc_files(const model::Pod& pod, const std::string& address,
                               const std::string& resolv_conf,
                               const std::vector<std::int64_t>& users) {
  const std::string hostname =
      (pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname).substr(0, 63);
  std::string passwd =
      "root:x:0:0:root:/root:/bin/sh\n"
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
  std::string group = "root:x:0:\nnogroup:x:65534:\n";
  for (std::int64_t user : users) {
    // Programs that ask who they are want a name.
    const std::string id = std::to_string(user);
    passwd += "user" + id + ":x:" + id + ":" + id + "::/tmp:/bin/sh\n";
    group += "user" + id + ":x:" + id + ":\n";
  }
  return {{"hosts", hosts_of(pod, hostname, address)},
          {"hostname", hostname + "\n"},
          {"resolv.conf", resolv_conf},
          {"passwd", std::move(passwd)},
          {"group", std::move(group)}};
}

}  // namespace codeflare::node
