/* SPDX-License-Identifier: Apache-2.0
 *
 * What a library of `kane-dynamics build` says of itself, the same for all robots. Programs that
 * load any robot ask for the symbol `kane_dynamics_describe`; lists of names end with NULL.
 */
#ifndef KANE_DYNAMICS_CPP__KANE_DYNAMICS_ROBOT_H_
#define KANE_DYNAMICS_CPP__KANE_DYNAMICS_ROBOT_H_

#define KANE_DYNAMICS_ROBOT_ABI 2

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the robot's header: its inputs, `parameters`, its outputs, all `double *`. */
struct kane_dynamics_function {
  const char *name;
  int inputs, outputs;
  void (*call)(void); /* to be cast to the prototype in the header */
};

struct kane_dynamics_robot {
  int abi; /* KANE_DYNAMICS_ROBOT_ABI of the build */
  int nq, nv, rows, frames, parameters;
  int rows_bind_motors; /* 1: efforts are those of motor_efforts, else of inverse_dynamics */
  const char *name, *version, *fingerprint;
  const char *urdf;                          /* the text that it was built from */
  const char *const *velocity_names;         /* order of v, a and efforts */
  const char *const *coordinate_names;       /* order of q */
  const char *const *row_names;              /* order of multipliers */
  const char *const *reference_names;        /* speeds that motor_efforts takes */
  const char *const *state_names;            /* joints whose positions it needs */
  const char *const *motor_names;            /* joints whose efforts are commanded */
  const char *const *payload_frames;         /* order of the payloads of `load` */
  const double *default_parameters;          /* gravity, then inertias of payload bodies */
  int (*check)(void);                        /* 0 where this processor runs the code */
  const struct kane_dynamics_function *functions; /* a name that is NULL ends them */
};

const struct kane_dynamics_robot *kane_dynamics_describe(void);

#ifdef __cplusplus
}
#endif

#endif
