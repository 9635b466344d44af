# The tables of built-in kinds; tools/apitables writes generated/ and internal/tables.h.
target_sources(cf_apiserver_schema PRIVATE
  builtin.cc
  builtin_form.cc
  generated/fields.cc
  generated/kinds.cc
  generated/nodes.cc
  generated/resources.cc
  generated/texts.cc)

codeflare_test(apiserver_builtin_test
  SOURCES
    builtin_form_test.cc
    builtin_test.cc
  DEPENDS cf_apiserver_schema)

if(NOT CODEFLARE_FUZZ)
  add_test(NAME apitables_check COMMAND ${CMAKE_SOURCE_DIR}/tools/apitables --check)
  # The first run may download the Go modules.
  set_tests_properties(apitables_check PROPERTIES TIMEOUT 300 LABELS all)
endif()
