#include "s3/listing.h"

#include "net/url.h"
#include "s3/internal/xml_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::s3 {

namespace {

using internal::XmlReader;
using Kind = XmlReader::Kind;

constexpr std::size_t kNameMax = 255;

// The text of the element that was just opened; elements inside of it are skipped.
Result<std::string> text_of(XmlReader& xml) {
  const std::size_t depth = xml.depth();
  std::string text;
  for (;;) {
    TRY_ASSIGN(const XmlReader::Token token, xml.next());
    if (token.kind == Kind::text && xml.depth() == depth) {
      text += token.text;
    } else if (token.kind == Kind::close && xml.depth() < depth) {
      return text;
    }
  }
}

Result<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, number);
      error != std::errc() || at != end) {
    return fail(data_loss("the listing of the bucket has a size '" + text + "'"));
  }
  return number;
}

Result<ObjectInfo> object_of(XmlReader& xml) {
  const std::size_t depth = xml.depth();
  ObjectInfo object;
  for (;;) {
    TRY_ASSIGN(const XmlReader::Token token, xml.next());
    if (token.kind == Kind::close && xml.depth() < depth) {
      return object;
    }
    if (token.kind != Kind::open) {
      continue;
    }
    TRY_ASSIGN(std::string text, text_of(xml));
    if (token.text == "Key") {
      object.key = std::move(text);
    } else if (token.text == "Size") {
      TRY_ASSIGN(object.size, number_of(text));
    } else if (token.text == "ETag") {
      object.etag = std::move(text);
    }
  }
}

// Keys that were asked for with encoding-type=url, if the server knows it.
Result<void> decode_keys(Listing& listing) {
  for (ObjectInfo& object : listing.objects) {
    std::ranges::replace(object.key, '+', ' ');
    TRY_ASSIGN(object.key, net::percent_decode(object.key));
  }
  return {};
}

}  // namespace

Result<Listing> parse_listing(std::string_view text) {
  XmlReader xml(text);
  Listing listing;
  bool truncated = false;
  bool encoded = false;
  TRY_ASSIGN(const XmlReader::Token root, xml.next());
  if (root.kind != Kind::open || root.text != "ListBucketResult") {
    return fail(data_loss("the answer of the object store is not a listing"));
  }
  for (;;) {
    TRY_ASSIGN(const XmlReader::Token token, xml.next());
    if (token.kind == Kind::end) {
      break;
    }
    if (token.kind != Kind::open) {
      continue;
    }
    if (token.text == "Contents") {
      TRY_ASSIGN(ObjectInfo object, object_of(xml));
      listing.objects.push_back(std::move(object));
      continue;
    }
    TRY_ASSIGN(std::string value, text_of(xml));
    if (token.text == "IsTruncated") {
      truncated = value == "true";
    } else if (token.text == "NextContinuationToken") {
      listing.next = std::move(value);
    } else if (token.text == "EncodingType") {
      encoded = value == "url";
    }
  }
  if (!truncated) {
    listing.next.clear();
  } else if (listing.next.empty()) {
    return fail(
        data_loss("the listing of the bucket has more pages and does not say how to read "
                  "them"));
  }
  if (encoded) {
    TRY(decode_keys(listing));
  }
  return listing;
}

ServerError parse_error(std::string_view text) {
  XmlReader xml(text);
  ServerError found;
  const Result<XmlReader::Token> root = xml.next();
  if (!root || root->kind != Kind::open || root->text != "Error") {
    return found;
  }
  for (;;) {
    const Result<XmlReader::Token> token = xml.next();
    if (!token || token->kind == Kind::end) {
      return found;
    }
    if (token->kind != Kind::open) {
      continue;
    }
    Result<std::string> value = text_of(xml);
    if (!value) {
      return found;
    }
    if (token->text == "Code") {
      found.code = *std::move(value);
    } else if (token->text == "Message") {
      found.message = *std::move(value);
    }
  }
}

Result<std::string> parse_upload_id(std::string_view text) {
  const std::string problem = "the object store did not begin an upload in parts";
  XmlReader xml(text);
  TRY_ASSIGN(const XmlReader::Token root, xml.next());
  if (root.kind != Kind::open || root.text != "InitiateMultipartUploadResult") {
    return fail(data_loss(problem));
  }
  for (;;) {
    TRY_ASSIGN(const XmlReader::Token token, xml.next());
    if (token.kind == Kind::end) {
      return fail(data_loss(problem));
    }
    if (token.kind != Kind::open) {
      continue;
    }
    TRY_ASSIGN(std::string value, text_of(xml));
    if (token.text == "UploadId" && !value.empty()) {
      return value;
    }
  }
}

std::string finish_upload_xml(const std::vector<std::string>& tags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>";
    for (const char c : tags[i]) {
      if (c == '&') {
        xml += "&amp;";
      } else if (c == '<') {
        xml += "&lt;";
      } else {
        xml += c;
      }
    }
    xml += "</ETag></Part>";
  }
  return xml + "</CompleteMultipartUpload>";
}

Result<std::string> relative_path(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) {
    return fail(data_loss("the listing has object '" + std::string(key) +
                          "', which does not begin "
                          "with '" +
                          std::string(prefix) + "'"));
  }
  const std::string_view path = key.substr(prefix.size());
  const auto wrong = [&](std::string_view why) {
    return fail(invalid_argument("object '" + std::string(key) + "' cannot be a file: " +
                                 std::string(why) + "; rename it or choose another prefix"));
  };
  if (path.empty()) {
    return std::string();
  }
  std::string_view rest = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  for (;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.contains('\0')) {
      return wrong("a part of its name is empty, . or ..");
    }
    if (part.size() > kNameMax) {
      return wrong("a part of its name has more than 255 bytes");
    }
    if (slash == std::string_view::npos) {
      return std::string(path);
    }
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace codeflare::s3
