# Precompiled headers. CMake's own make one per target and hold the path of the build folder, so no two checkouts would share a
# compiler cache. Here there is one per build folder, and a .sum file beside it tells ccache what it means (CCACHE_PCH_EXTSUM): the hash
# of its text, equal in every checkout. Flags count as those of each file that uses it.

option(CODEFLARE_PRELUDE "compile the usual headers once" ON)

# codeflare_prelude(NAME HEADER [FLAGS...]): the target `NAME` that makes NAME.pch
function(codeflare_prelude name header)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  list(APPEND flags -std=c++23 "$<TARGET_PROPERTY:codeflare_settings,INTERFACE_COMPILE_OPTIONS>" -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR} ${ARGN})
  set(pch ${CMAKE_BINARY_DIR}/${name}.pch)
  add_custom_command(OUTPUT ${pch} BYPRODUCTS ${pch}.sum
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -E -P -x c++-header ${header} -o ${pch}.text
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${name}.pch.text > ${pch}.sum
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -MD -MT ${name}.pch -MF ${pch}.d -fpch-instantiate-templates -x c++-header ${header} -o ${pch}
    DEPFILE ${pch}.d
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    COMMENT "Precompiling ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name} DEPENDS ${pch})
endfunction()

# codeflare_use_prelude(TARGET NAME)
function(codeflare_use_prelude target name)
  if(CODEFLARE_PRELUDE)
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${CMAKE_BINARY_DIR}/${name}.pch")
    add_dependencies(${target} ${name})
  endif()
endfunction()
