// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__DESCRIPTION_DIFFERENCE_HPP_
#define KANE_DYNAMICS_CPP__DESCRIPTION_DIFFERENCE_HPP_

#include <string>

namespace kane_dynamics
{

/// Return the first link or joint of a URDF whose mass, place or axis a description has otherwise.
/** '' where there is none; a description may have more links. std::runtime_error: no URDF. */
std::string description_difference(const std::string & urdf, const std::string & description);

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__DESCRIPTION_DIFFERENCE_HPP_
