# Compiler settings and the functions every folder uses to declare its library, tests and fuzzers.

option(CODEFLARE_WARNINGS_AS_ERRORS "treat warnings as errors" OFF)
option(CODEFLARE_COVERAGE "instrument for source-based coverage" OFF)
option(CODEFLARE_FUZZ "build the libFuzzer targets" OFF)
set(CODEFLARE_SANITIZE "" CACHE STRING "comma-separated sanitizers, empty for none")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL 3 REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)

# Everything below applies to our own targets only.
add_library(codeflare_settings INTERFACE)
target_include_directories(codeflare_settings INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(codeflare_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Woverloaded-virtual -Wnon-virtual-dtor -Wthread-safety -fno-omit-frame-pointer
  $<$<BOOL:${CODEFLARE_WARNINGS_AS_ERRORS}>:-Werror>
  # Line tables are enough for sanitizer reports and keep objects and links small.
  $<$<CONFIG:Debug>:-O1 -gline-tables-only>)
target_link_options(codeflare_settings INTERFACE -fuse-ld=lld
  $<$<CONFIG:Release>:-Wl,--gc-sections -Wl,--icf=safe>)
target_compile_options(codeflare_settings INTERFACE
  $<$<CONFIG:Release>:-ffunction-sections -fdata-sections>)

if(CODEFLARE_SANITIZE)
  # clang 19 emits invalid assembly for coroutines under -fsanitize=function.
  set(flags -fsanitize=${CODEFLARE_SANITIZE} -fno-sanitize=function -fno-sanitize-recover=all)
  target_compile_options(codeflare_settings INTERFACE ${flags})
  target_link_options(codeflare_settings INTERFACE ${flags})
endif()
if(CODEFLARE_COVERAGE)
  target_compile_options(codeflare_settings INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(codeflare_settings INTERFACE -fprofile-instr-generate -fcoverage-mapping)
endif()
if(CODEFLARE_FUZZ)
  target_compile_options(codeflare_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# codeflare_library(NAME FOLDER SOURCES... [DEPENDS libs...] [PRIVATE_DEPENDS libs...])
function(codeflare_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC codeflare_settings ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
endfunction()

# codeflare_test(NAME SOURCES... DEPENDS libs...): one test program per folder; ctest sees each TEST by itself.
function(codeflare_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(CODEFLARE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gtest_main)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()

# codeflare_fuzzer(NAME SOURCES... DEPENDS libs...): built only by the fuzz preset; run by `./dev fuzz`.
function(codeflare_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT CODEFLARE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY CODEFLARE_FUZZERS ${name})
endfunction()
