# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
add_library(controller_interface::controller_interface INTERFACE IMPORTED)
target_include_directories(controller_interface::controller_interface INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
