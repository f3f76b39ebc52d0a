# Files with many mistakes and all forms of the grammar: what is printed for each stands beside it.
file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/syntax/*.tile")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  ctilec_test(syntax/${name} "quick;golden" syntax/golden.py "${file}")
endforeach()
