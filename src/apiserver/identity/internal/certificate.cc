#include "apiserver/identity/internal/certificate.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

using NumberPtr = std::unique_ptr<BIGNUM, net::OpenSslFree<BN_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, net::OpenSslFree<X509_EXTENSION_free>>;
using AddressPtr = std::unique_ptr<ASN1_OCTET_STRING, net::OpenSslFree<ASN1_OCTET_STRING_free>>;

bool add_name(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate, const CertificateSpec& spec) {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(spec.serial_high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<unsigned char>(spec.serial_low >> (56 - 8 * i));
  }
  bytes[0] &= 0x7f;
  NumberPtr number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  return BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

std::time_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

bool set_subject(X509* certificate, const CertificateSpec& spec) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  return std::ranges::all_of(spec.organizations,
                             [&](const std::string& one) { return add_name(subject, "O", one); }) &&
         add_name(subject, "CN", spec.common_name);
}

bool add_usage(X509* certificate, X509* issuer, const CertificateSpec& spec) {
  auto add = [&](int nid, const std::string& value) {
    return add_extension(certificate, issuer, nid, value);
  };
  if (spec.use == CertificateUse::authority) {
    return add(NID_basic_constraints, "critical,CA:TRUE") &&
           add(NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign") &&
           add(NID_subject_key_identifier, "hash");
  }
  if (!add(NID_basic_constraints, "critical,CA:FALSE") ||
      !add(NID_key_usage, "critical,digitalSignature") ||
      !add(NID_ext_key_usage, spec.use == CertificateUse::server ? "serverAuth" : "clientAuth") ||
      !add(NID_authority_key_identifier, "keyid:always")) {
    return false;
  }
  std::string names;
  for (const std::string& name : spec.names) {
    names += (names.empty() ? "" : ",") + std::string(is_address(name) ? "IP:" : "DNS:") + name;
  }
  return names.empty() || add(NID_subject_alt_name, names);
}

// Names go through a text form in which commas and colons mean something.
bool is_plain(const std::string& name) {
  return is_address(name) ||
         (!name.empty() &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.*"
                                 "_") == std::string::npos);
}

}  // namespace

Result<X509Ptr> make_certificate(const CertificateSpec& spec, EVP_PKEY* key, Issuer issuer) {
  for (const std::string& name : spec.names) {
    if (!is_plain(name)) {
      return fail(invalid_argument("\"" + name + "\" is neither a DNS name nor an address"));
    }
  }
  X509Ptr made(X509_new());
  X509* certificate = made.get();
  X509* authority = issuer.certificate != nullptr ? issuer.certificate : certificate;
  bool ok = certificate != nullptr && X509_set_version(certificate, 2) == 1 &&
            set_serial(certificate, spec) &&
            ASN1_TIME_set(X509_getm_notBefore(certificate), seconds_of(spec.from)) != nullptr &&
            ASN1_TIME_set(X509_getm_notAfter(certificate), seconds_of(spec.to)) != nullptr &&
            set_subject(certificate, spec) && X509_set_pubkey(certificate, key) == 1 &&
            X509_set_issuer_name(certificate, X509_get_subject_name(authority)) == 1 &&
            add_usage(certificate, authority, spec) &&
            X509_sign(certificate, issuer.key, EVP_sha256()) > 0;
  if (!ok) {
    return fail(openssl_error("make a certificate"));
  }
  return made;
}

bool is_address(const std::string& name) {
  AddressPtr address(a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return address != nullptr;
}

bool covers_names(X509* certificate, const std::vector<std::string>& names) {
  bool covered = std::ranges::all_of(names, [&](const std::string& name) {
    return is_address(name)
               ? X509_check_ip_asc(certificate, name.c_str(), 0) == 1
               : X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
  });
  ERR_clear_error();
  return covered;
}

bool is_issued_by(X509* certificate, X509* authority) {
  KeyPtr key(X509_get_pubkey(authority));
  bool issued = key != nullptr && X509_verify(certificate, key.get()) == 1;
  ERR_clear_error();
  return issued;
}

WallTime end_of(const X509* certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) {
    ERR_clear_error();
    return WallTime();
  }
  using namespace std::chrono;
  sys_days day = year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday;
  return day + hours(parts.tm_hour) + minutes(parts.tm_min) + seconds(parts.tm_sec);
}

}  // namespace codeflare::apiserver::internal
