# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
set(inverse_dynamics_solver_INCLUDE_DIRS ${CMAKE_CURRENT_LIST_DIR}/..)
