# The two editions: one small file each, so nothing else is compiled twice. build/config.yaml has the values of the release
# edition: `key: value` a line, no nesting. The folder is that of builds too, so the file may be missing.
set(edition_config ${CMAKE_SOURCE_DIR}/build/config.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${edition_config})

# edition_value(NAME OUT): the value of a key, without quotes; empty when there is none.
function(edition_value name out)
  set(value "")
  if(EXISTS ${edition_config})
    file(STRINGS ${edition_config} lines REGEX "^${name}:")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^${name}:[ ]*(.*[^ ])?[ ]*$" "\\1" value "${line}")
      string(REGEX REPLACE "^\"(.*)\"$" "\\1" value "${value}")
    endforeach()
  endif()
  if(value MATCHES "[\"\\]")
    message(FATAL_ERROR "build/config.yaml: ${name} must not hold quotes or backslashes")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

function(edition_library target name release)
  set(url "")
  set(store 0)
  set(product 0)
  set(key "")
  set(usage_url "")
  set(usage_user "")
  set(usage_password "")
  if(release)
    edition_value(licenseEndpoint url)
    edition_value(licenseStoreId store)
    edition_value(licenseProductId product)
    edition_value(licensePublicKey key)
    edition_value(usageEndpoint usage_url)
    edition_value(usageUser usage_user)
    edition_value(usagePassword usage_password)
    foreach(number store product)
      if(NOT ${number} MATCHES "^[0-9]+$")
        set(${number} 0)
      endif()
    endforeach()
  endif()
  set(code "#include \"app/flags/edition.h\"

namespace codeflare {

const Edition& edition() {
  static constexpr Edition kEdition{.name = \"${name}\",
                                    .release = ${release},
                                    .licence_url = \"${url}\",
                                    .licence_store = ${store},
                                    .licence_product = ${product},
                                    .licence_public_key = \"${key}\",
                                    .usage_url = \"${usage_url}\",
                                    .usage_user = \"${usage_user}\",
                                    .usage_password = \"${usage_password}\"};
  return kEdition;
}

}  // namespace codeflare
")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc CONTENT "@code@" @ONLY)
  codeflare_library(${target} SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc DEPENDS cf_base)
endfunction()

edition_library(cf_edition_community community false)
edition_library(cf_edition_release release true)
