# ctilec_add_library(<name> SOURCES a.tile b.tile [keywords])
#     a new library of the kernels; who links it can include their headers
# ctilec_target_sources(<existing> PRIVATE|PUBLIC a.tile [keywords])
#     kernels for a target that exists already, in this directory or another
#
# Keywords of both:
#   TARGET cuda|cuda-tile|c  what is generated; default cuda
#   HEADER_PREFIX p        headers are included as "p/a.h"
#   NAMESPACE ns           --namespace
#   INCLUDE_DIRS d...      folders of imported files
#   DEFINES K=V...         values for `param`
#   ARCH sm_80...          --arch
#   TILE_ARCH sm_100...    --tile-arch: TARGET cuda, with tile kernels for these architectures
#   OPTIONS o...           further options of ctilec
#   DEPENDS f...           files or targets that must exist first
#   OUT_SOURCES var        receives the generated sources
#   OUT_HEADERS var        receives the generated headers
# CUDA_ARCHITECTURES of the library, or CMAKE_CUDA_ARCHITECTURES, says what nvcc compiles for. Tile kernels need nvcc 13.3 or newer; what
# they need of its options is added.
# And of ctilec_add_library: TYPE STATIC|OBJECT|SHARED (default STATIC), CUDART (links CUDA::cudart).
include_guard(GLOBAL)

set(_ctilec_one TARGET HEADER_PREFIX NAMESPACE OUT_SOURCES OUT_HEADERS TYPE)
set(_ctilec_many INCLUDE_DIRS DEFINES ARCH TILE_ARCH OPTIONS DEPENDS)

# Tile kernels are there from nvcc 13.3 on. An nvcc of that version gets what it knows.
macro(_ctilec_tile_version name)
  set(_found "${CMAKE_CUDA_COMPILER_VERSION}")
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    set(_found "${CMAKE_CUDA_COMPILER_ID} ${_found}")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS "13.3")
    message(FATAL_ERROR "ctilec: ${name}: cuda-tile needs nvcc 13.3 or newer; found ${_found} at ${CMAKE_CUDA_COMPILER}")
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS "13.4" AND NOT "${ARG_OPTIONS}" MATCHES "--tile-version")
    list(APPEND _options "--tile-version=13.3")
  endif()
endmacro()

# What nvcc has to be told about the library.
macro(_ctilec_compile_tiles target)
  if(_tiles)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--enable-tile>")
    # Not by an option: the one that CMake adds for the language's standard stands behind all options. Where CMake does not know that nvcc has
    # C++20, it is told.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20" CACHE INTERNAL "of nvcc 12 and newer")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20" CACHE INTERNAL "of nvcc 12 and newer")
    endif()
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20)
  endif()
endmacro()

# Adds the steps for the .tile files in ARG_FILES; sets _sources, _headers, _include for its caller.
macro(_ctilec_generate name files)
  set(_language "${ARG_TARGET}")
  if(NOT _language)
    set(_language cuda)
  endif()
  set(_tiles OFF)
  if(_language STREQUAL "cuda" OR _language STREQUAL "cuda-tile")
    set(_ending cu)
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "ctilec: ${name} generates CUDA; add `enable_language(CUDA)` before, or TARGET c")
    endif()
    if(ARG_TILE_ARCH OR _language STREQUAL "cuda-tile")
      set(_tiles ON)
    endif()
  elseif(_language STREQUAL "c")
    set(_ending c)
  else()
    message(FATAL_ERROR "ctilec: TARGET of ${name} is cuda, cuda-tile or c, not ${_language}")
  endif()

  set(_options "--target=${_language}" ${ARG_OPTIONS})
  if(_tiles)
    _ctilec_tile_version(${name})
  endif()
  if(ARG_TILE_ARCH)
    list(JOIN ARG_TILE_ARCH "," _arch)
    list(APPEND _options "--tile-arch=${_arch}")
  endif()
  if(ARG_NAMESPACE)
    list(APPEND _options "--namespace=${ARG_NAMESPACE}")
  endif()
  if(ARG_ARCH)
    list(JOIN ARG_ARCH "," _arch)
    list(APPEND _options "--arch=${_arch}")
  endif()
  foreach(_define IN LISTS ARG_DEFINES)
    list(APPEND _options "-D" "${_define}")
  endforeach()
  foreach(_dir IN LISTS ARG_INCLUDE_DIRS)
    get_filename_component(_dir "${_dir}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND _options "-I" "${_dir}")
  endforeach()

  # Configurations share the generated files unless the options ask which one it is.
  set(_include "${CMAKE_CURRENT_BINARY_DIR}/ctilec/${name}")
  string(FIND "${_options}" "$<" _varies)
  if(NOT _varies EQUAL -1)
    string(APPEND _include "/$<CONFIG>")
  endif()
  set(_folder "${_include}")
  if(ARG_HEADER_PREFIX)
    string(APPEND _folder "/${ARG_HEADER_PREFIX}")
  endif()
  if(_varies EQUAL -1)
    file(MAKE_DIRECTORY "${_folder}")
  endif()

  set(_sources)
  set(_headers)
  foreach(_file IN ITEMS ${files})
    get_filename_component(_input "${_file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_filename_component(_base "${_file}" NAME_WLE)
    set(_source "${_folder}/${_base}.${_ending}")
    set(_header "${_folder}/${_base}.h")
    add_custom_command(
      OUTPUT "${_source}" "${_header}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${_folder}"
      COMMAND ctilec::ctilec ${_options} -MD -MF "${_source}.d" -o "${_source}" "--header=${_header}" "${_input}"
      MAIN_DEPENDENCY "${_input}"
      DEPENDS ctilec::ctilec "${ctilec_EXECUTABLE}" ${ARG_DEPENDS}
      DEPFILE "${_source}.d"
      COMMENT "Compiling ${_base}.tile"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND _sources "${_source}")
    list(APPEND _headers "${_header}")
  endforeach()
  if(_varies EQUAL -1)
    set_source_files_properties(${_sources} ${_headers} PROPERTIES GENERATED TRUE SKIP_UNITY_BUILD_INCLUSION TRUE)
  endif()
  if(ARG_OUT_SOURCES)
    set(${ARG_OUT_SOURCES} "${_sources}" PARENT_SCOPE)
  endif()
  if(ARG_OUT_HEADERS)
    set(${ARG_OUT_HEADERS} "${_headers}" PARENT_SCOPE)
  endif()
endmacro()

function(_ctilec_check name)
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ctilec: ${name}: unknown words: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "ctilec: ${name}: no value behind ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
endfunction()

function(ctilec_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "CUDART" "${_ctilec_one}" "SOURCES;${_ctilec_many}")
  _ctilec_check(${name})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "ctilec: ${name}: SOURCES is missing")
  endif()
  if(NOT ARG_TYPE)
    set(ARG_TYPE STATIC)
  endif()
  _ctilec_generate(${name} "${ARG_SOURCES}")
  add_library(${name} ${ARG_TYPE} ${_sources} ${_headers})
  _ctilec_compile_tiles(${name})
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${_include}>")
  if(UNIX AND _language STREQUAL "c")
    target_link_libraries(${name} PUBLIC m)
  endif()
  if(ARG_CUDART)
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${name} PUBLIC CUDA::cudart)
  endif()
endfunction()

function(ctilec_target_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "${_ctilec_one}" "PRIVATE;PUBLIC;${_ctilec_many}")
  _ctilec_check(${target})
  set(_files ${ARG_PRIVATE} ${ARG_PUBLIC})
  if(NOT _files)
    message(FATAL_ERROR "ctilec: ${target}: PRIVATE or PUBLIC with files is missing")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "ctilec: there is no target ${target}")
  endif()
  set(_scope PRIVATE)
  if(ARG_PUBLIC)
    set(_scope PUBLIC)
  endif()
  # An object library of this directory does the work, so that the target may belong to another one.
  get_property(_count GLOBAL PROPERTY _ctilec_count_${target})
  math(EXPR _count "0${_count} + 1")
  set_property(GLOBAL PROPERTY _ctilec_count_${target} ${_count})
  set(_inner "${target}_ctilec_${_count}")
  _ctilec_generate(${_inner} "${_files}")
  add_library(${_inner} OBJECT ${_sources} ${_headers})
  _ctilec_compile_tiles(${_inner})
  set_target_properties(${_inner} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${_inner} PRIVATE "${_include}")
  add_dependencies(${target} ${_inner})
  target_sources(${target} PRIVATE "$<TARGET_OBJECTS:${_inner}>")
  target_include_directories(${target} ${_scope} "$<BUILD_INTERFACE:${_include}>")
  if(UNIX AND _language STREQUAL "c")
    target_link_libraries(${target} ${_scope} m)
  endif()
endfunction()
