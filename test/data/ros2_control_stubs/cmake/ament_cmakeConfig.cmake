# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
macro(ament_package)
  message(STATUS "ament_package ${PROJECT_NAME}")
endmacro()
