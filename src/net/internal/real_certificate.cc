#include "net/internal/real_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <array>
#include <ctime>

namespace codeflare::net::internal {

namespace {

using GeneralNames = std::unique_ptr<GENERAL_NAMES, OpenSslFree<GENERAL_NAMES_free>>;

BioPtr memory_of(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int no_passphrase(char*, int, int, void*) {
  return -1;
}

std::string utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) {
    ERR_clear_error();
    return {};
  }
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return result;
}

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    values.push_back(utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  }
  return values;
}

std::string time_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return "an unreadable date";
  }
  std::array<char, 32> text{};
  std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), size);
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(address) != 16) {
    return "malformed address";
  }
  inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

}  // namespace

std::string take_openssl_error() {
  const char* file = nullptr;
  int line = 0;
  unsigned long code = ERR_peek_last_error_all(&file, &line, nullptr, nullptr, nullptr);
  const char* reason = ERR_reason_error_string(code);
  std::string text = reason != nullptr ? reason : "unknown TLS error";
  if (ERR_GET_REASON(code) == ERR_R_INTERNAL_ERROR && file != nullptr) {
    text += std::string(" of OpenSSL, ") + file + ":" + std::to_string(line);
  }
  ERR_clear_error();
  return text;
}

Result<std::vector<X509Ptr>> read_certificates(std::string_view pem, std::string_view what) {
  ERR_clear_error();
  BioPtr bio = memory_of(pem);
  std::vector<X509Ptr> certificates;
  for (;;) {
    X509Ptr next(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
    if (next == nullptr) {
      break;
    }
    certificates.push_back(std::move(next));
  }
  bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  std::string error = take_openssl_error();
  if (!at_end) {
    return fail(invalid_argument(std::string(what) + ": " + error));
  }
  if (certificates.empty()) {
    return fail(invalid_argument(std::string(what) + ": no certificate in PEM form"));
  }
  return certificates;
}

Result<KeyPtr> read_key(std::string_view pem, std::string_view what) {
  ERR_clear_error();
  BioPtr bio = memory_of(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) {
    bool encrypted = pem.find("ENCRYPTED") != std::string_view::npos;
    std::string error = take_openssl_error();
    return fail(invalid_argument(
        std::string(what) + ": " +
        (encrypted ? "the key is encrypted" : "no private key in PEM form (" + error + ")")));
  }
  return key;
}

std::string name_text(const X509_NAME* name) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0,
                     XN_FLAG_RFC2253 & ~static_cast<unsigned long>(XN_FLAG_DN_REV));
  char* data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : "(no name)";
}

std::string alternative_names_text(const X509* certificate) {
  GeneralNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::string text;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::string one;
    if (name->type == GEN_DNS) {
      one = utf8(name->d.dNSName);
    } else if (name->type == GEN_IPADD) {
      one = address_text(name->d.iPAddress);
    } else {
      continue;
    }
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

Peer::Certificate describe(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  Peer::Certificate result;
  std::vector<std::string> common_names = entries(subject, NID_commonName);
  if (!common_names.empty()) {
    // The most specific one comes last.
    result.common_name = common_names.back();
  }
  result.organizations = entries(subject, NID_organizationName);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1) {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
      result.sha256 += kHex[digest[i] >> 4];
      result.sha256 += kHex[digest[i] & 15];
    }
  }
  return result;
}

namespace {

// Authorities of two clusters often have one name: then only the digest tells them apart.
std::string unknown_authority_text(const X509* certificate) {
  const std::string subject = name_text(X509_get_subject_name(certificate));
  const std::string issuer = name_text(X509_get_issuer_name(certificate));
  if (subject == issuer) {
    return "the certificate is signed by an unknown authority (" + issuer + ", SHA-256 " +
           describe(certificate).sha256.substr(0, 16) + "...)";
  }
  return "certificate " + subject + " is signed by an unknown authority (" + issuer + ")";
}

}  // namespace

std::string verify_failure_text(int code, const X509* certificate, const std::string& host) {
  if (certificate == nullptr) {
    return X509_verify_cert_error_string(code);
  }
  std::string subject = "certificate " + name_text(X509_get_subject_name(certificate));
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return subject + " expired at " + time_text(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return subject + " is not valid before " + time_text(X509_get0_notBefore(certificate));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return unknown_authority_text(certificate);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      std::string names = alternative_names_text(certificate);
      return subject + " is valid for " + (names.empty() ? "no name or address" : names) +
             ", not for " + host;
    }
    default:
      return subject + ": " + X509_verify_cert_error_string(code);
  }
}

ConnectStep verify_failure_step(int code) {
  switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return ConnectStep::trust;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return ConnectStep::name;
    default:
      return ConnectStep::server;
  }
}

}  // namespace codeflare::net::internal
