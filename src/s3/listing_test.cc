#include "s3/listing.h"

#include <gtest/gtest.h>

namespace codeflare::s3 {
namespace {

std::string page(const std::string& inner) {
  return R"(<?xml version="1.0"?><ListBucketResult xmlns="http://x/">)" + inner +
         "</ListBucketResult>";
}

TEST(Listing, reads_keys_sizes_and_the_next_page) {
  const auto listing = parse_listing(page(
      "<Name>b</Name><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>a&amp;b</NextContinuationToken><Contents><Key>x &lt;1&gt; "
      "&#233;</Key><LastModified>t</LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size>"
      "<Owner><ID>Key</ID></Owner></Contents><Contents><Key>y</Key><Size>0</Size></Contents>"));
  ASSERT_TRUE(listing) << listing.error().message;
  ASSERT_EQ(listing->objects.size(), 2u);
  EXPECT_EQ(listing->objects[0], (ObjectInfo{"x <1> é", 12, "\"e\""}));
  EXPECT_EQ(listing->objects[1], (ObjectInfo{"y", 0, ""}));
  EXPECT_EQ(listing->next, "a&b");
}

TEST(Listing, decodes_keys_when_the_server_encoded_them) {
  const std::string inner = "<Contents><Key>a+b%2Bc%0A</Key><Size>1</Size></Contents>";
  EXPECT_EQ(parse_listing(page("<EncodingType>url</EncodingType>" + inner))->objects[0].key,
            "a b+c\n");
  EXPECT_EQ(parse_listing(page(inner))->objects[0].key, "a+b%2Bc%0A");
}

TEST(Listing, uploads_in_parts_begin_with_an_id_and_end_with_tags) {
  const std::string inner = "<Bucket>b</Bucket><UploadId>a&amp;b</UploadId>";
  EXPECT_EQ(parse_upload_id("<InitiateMultipartUploadResult>" + inner +
                            "</InitiateMultipartUploadResult>")
                .value_or(""),
            "a&b");
  EXPECT_FALSE(parse_upload_id("<InitiateMultipartUploadResult></InitiateMultipartUploadResult>"));
  EXPECT_FALSE(parse_upload_id(page(inner)));
  EXPECT_FALSE(parse_upload_id(""));
  EXPECT_EQ(finish_upload_xml({"\"x\"", "<&"}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"x\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>&lt;&amp;</ETag></Part>"
            "</CompleteMultipartUpload>");
}

TEST(Listing, rejects_what_is_damaged) {
  for (const std::string& text :
       {std::string(), std::string("<html></html>"), page("<Contents>"), page("<Contents></Key>"),
        page("<Contents><Size>x</Size></Contents>"), page("<IsTruncated>true</IsTruncated>"),
        "<!DOCTYPE a [<!ENTITY b 'c'>]>" + page(""), page("&b;"), page("") + page("")}) {
    EXPECT_FALSE(parse_listing(text)) << text;
  }
}

TEST(Listing, error_of_an_answer) {
  const ServerError error = parse_error(
      "<Error><Code>NoSuchBucket</Code><Message>no</Message><BucketName>b</BucketName>"
      "</Error>");
  EXPECT_EQ(error.code, "NoSuchBucket");
  EXPECT_EQ(error.message, "no");
  EXPECT_EQ(parse_error("not XML").code, "");
}

TEST(Listing, no_key_leaves_its_directory) {
  EXPECT_EQ(*relative_path("a/b/c", "a/"), "b/c");
  EXPECT_EQ(*relative_path("a/", "a/"), "");
  EXPECT_EQ(*relative_path("a/b/", ""), "a/b/");
  for (const char* key : {"/etc/passwd", "../x", "a/../x", "a//b", ".", "a/.", "a/..", "/"}) {
    EXPECT_FALSE(relative_path(key, "")) << key;
  }
  EXPECT_FALSE(relative_path("b/c", "a/"));
  EXPECT_FALSE(relative_path(std::string(300, 'x'), ""));
}

}  // namespace
}  // namespace codeflare::s3
