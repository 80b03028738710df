/* SPDX-License-Identifier: Apache-2.0
 *
 * Constraint rows A v = b0, A a = b of a robot's library as a passive plugin of MuJoCo.
 *
 * `compute` adds A' W A to the mass matrix and A' (W target + lambda) to the passive forces, with
 * target = b - (A v - b0) / h, so that MuJoCo solves contacts and limits in the constrained
 * metric: one step of an augmented Lagrangian. `advance` takes the multipliers from the change of
 * the speeds, restores the mass matrix, and projects in its metric q onto Phi = 0, where rows have
 * one, and v onto A v = b0.
 *
 * All is kept with mjData: plugin_state has lambda and which rows slip, plugin_data the rest. Where
 * the model has a user sensor of the instance's name, `advance` writes lambda and A v - b0 there: a
 * plugin sensor would cost a recursion of forces in each step.
 *
 * Rows of a cone are let go where |lambda| exceeds static friction: they get mu N against their
 * slip, until it has turned around.
 */
#include <mujoco/mujoco.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kane_dynamics_robot.h"

#define TWIST 6 /* speeds of a free joint */
#define DROPPED 1e-10 /* part of the largest pivot below which a row repeats others */
#define ROUNDING 1e-15 /* m/s or rad/s below which v needs no projection */
#define STILL 1e-9 /* m/s below which a slip has no direction */
static const char *const attributes[] = {"joints", "weight", "friction"};
static const char SEPARATORS[] = " \n\t";

typedef int rows_function(const double *q, const double *v, const double *time,
                          const double *parameters, double *A, double *b0, double *b, double *Phi);

/* Neighbouring rows whose force is limited [N]: where they slip, and where they stick. */
struct cone {
  int first, count;
  double dynamic, most;
};

/* Of one mjData; the numbers lie behind it. */
struct wheels {
  rows_function *rows;
  int count, speeds, coordinates; /* of rows; of the library's v and q */
  int nv, nC;                     /* of MuJoCo's */
  int free;                       /* whether the first six speeds are those of a free joint */
  int sensor;                     /* where sensordata has lambda and A v - b0, or -1 */
  int saved;                      /* whether M and its factor are those of compute */
  int cones;
  struct cone *cone;
  int *dof, *address; /* of each speed in qvel, of each coordinate in qpos */
  int *slips;         /* of each row, whether it does */
  double *weight;
  double *q, *v, *local, *A, *b0, *b, *Phi, *target, *before; /* local: A of the library's v */
  double *X, *S, *change;         /* M^-1 A', factor of A M^-1 A', multipliers of a projection */
  double *M, *LD, *D;             /* MuJoCo's before compute */
};

static rows_function *constraint_rows(const struct kane_dynamics_robot *robot) {
  const struct kane_dynamics_function *one = robot->functions;
  while (one->name && strcmp(one->name, "constraint_rows")) ++one;
  return (rows_function *)one->call;
}

/* Return the space for a robot, its numbers behind it. */
static struct wheels *allocated(const mjModel *m) {
  const struct kane_dynamics_robot *robot = kane_dynamics_describe();
  const int r = robot->rows, n = robot->nv, nq = robot->nq, nv = m->nv, nC = m->nC;
  const size_t numbers =
      (size_t)(nq + n + r * n + 2 * r * nv + nv + r * r + 6 * r + 2 * nC + nv);
  const size_t others = r * sizeof(struct cone) + (n + nq + r) * sizeof(int);
  struct wheels *w = calloc(1, sizeof *w + numbers * sizeof(double) + others);
  if (!w) return NULL;
  w->rows = constraint_rows(robot);
  w->count = r, w->speeds = n, w->coordinates = nq, w->nv = nv, w->nC = nC;
  double *next = (double *)(w + 1);
#define PART(name, size) w->name = next, next += (size)
  PART(q, nq), PART(v, n), PART(local, r * n), PART(A, r * nv), PART(X, r * nv);
  PART(before, nv), PART(S, r * r), PART(b0, r), PART(b, r), PART(Phi, r), PART(target, r);
  PART(change, r), PART(weight, r), PART(M, nC), PART(LD, nC), PART(D, nv);
#undef PART
  w->cone = (struct cone *)next;
  w->dof = (int *)(w->cone + r), w->address = w->dof + n, w->slips = w->address + nq;
  return w;
}

/* Find the joints of the library's speeds; return why that cannot be, or NULL. */
static const char *find_joints(const mjModel *m, struct wheels *w, const char *names) {
  int k = 0, place = 0;
  for (const char *at = names; *(at += strspn(at, SEPARATORS)); at += strcspn(at, SEPARATORS)) {
    char name[256] = "";
    const size_t length = strcspn(at, SEPARATORS);
    if (length >= sizeof name) return "a joint's name is too long";
    memcpy(name, at, length);
    const int joint = mj_name2id(m, mjOBJ_JOINT, name);
    if (joint < 0) return "a joint of 'joints' is not in the model";
    const int type = m->jnt_type[joint];
    if (type == mjJNT_BALL || (type == mjJNT_FREE && k > 0)) return "a joint has another kind";
    const int width = type == mjJNT_FREE ? TWIST : 1, extra = type == mjJNT_FREE;
    if (k + width > w->speeds) return "'joints' has more speeds than the robot";
    w->free |= type == mjJNT_FREE;
    for (int i = 0; i < width; ++i) w->dof[k++] = m->jnt_dofadr[joint] + i;
    for (int i = 0; i < width + extra; ++i) w->address[place++] = m->jnt_qposadr[joint] + i;
  }
  return k == w->speeds && place == w->coordinates ? NULL : "'joints' has fewer speeds than the robot";
}

/* Find the cones: first row, rows, force where they slip and where they stick; or return why not. */
static const char *find_cones(struct wheels *w, const char *text) {
  for (const char *at = text; text && *(at += strspn(at, SEPARATORS));) {
    if (w->cones == w->count) return "'friction' has more cones than there are rows";
    struct cone *c = w->cone + w->cones++;
    double numbers[4] = {-1.0};
    for (int k = 0; k < 4; ++k) {
      char *end;
      numbers[k] = strtod(at, &end);
      if (end == at) return "'friction' needs four numbers a cone";
      at = end;
    }
    c->first = (int)numbers[0], c->count = (int)numbers[1];
    c->dynamic = numbers[2], c->most = numbers[3];
    if (c->first < 0 || c->count < 1 || c->first + c->count > w->count) return "'friction' names no rows";
    if (!(c->dynamic >= 0.0 && c->most >= c->dynamic)) return "'friction' needs 0 <= dynamic <= static";
  }
  return NULL;
}

/* Turn rows of the twist (omega, v) in base axes into those of (v in the world, omega). */
static void turn_base(struct wheels *w, const mjtNum *quaternion) {
  mjtNum R[9];
  mju_quat2Mat(R, quaternion);
  double *v = w->v, turned[3];
  mju_cross(turned, v, v + 3); /* of the origin's velocity in base axes */
  for (int k = 0; k < w->count; ++k) {
    double *row = w->local + k * w->speeds, linear[3];
    w->b[k] += mju_dot3(row + 3, turned);
    mju_mulMatVec3(linear, R, row + 3);
    memcpy(row + 3, row, sizeof linear);
    memcpy(row, linear, sizeof linear);
  }
}

/* Take q and v, and find A, b0 and b in the order of MuJoCo's speeds; return 0 if there are any. */
static int find_rows(struct wheels *w, const mjtNum *qpos, const mjtNum *qvel, mjtNum time) {
  for (int k = 0; k < w->coordinates; ++k) w->q[k] = qpos[w->address[k]];
  for (int k = 0; k < w->speeds; ++k) w->v[k] = qvel[w->dof[k]];
  if (w->free) { /* MuJoCo: velocity of the origin in the world, then omega in base axes */
    mjtNum inverse[4], linear[3];
    mju_normalize4(w->q + 3);
    mju_negQuat(inverse, w->q + 3);
    mju_rotVecQuat(linear, w->v, inverse);
    memcpy(w->v, w->v + 3, sizeof linear);
    memcpy(w->v + 3, linear, sizeof linear);
  }
  if (w->rows(w->q, w->v, &time, NULL, w->local, w->b0, w->b, w->Phi)) return 1;
  if (w->free) turn_base(w, w->q + 3);
  for (int k = 0; k < w->count; ++k) {
    for (int i = 0; i < w->speeds; ++i) w->A[k * w->nv + w->dof[i]] = w->local[k * w->speeds + i];
  }
  return 0;
}

static double slip(const struct wheels *w, int k, const mjtNum *qvel) {
  return mju_dot(w->A + k * w->nv, qvel, w->nv) - w->b0[k];
}

static double missed(const struct wheels *w, int k, const mjtNum *a) {
  return w->target[k] - mju_dot(w->A + k * w->nv, a, w->nv);
}

/* Set the weights; return why rows do not fit into the mass matrix, or NULL. */
static const char *fit(const mjModel *m, struct wheels *w, double scale) {
  mjtNum *qpos = calloc(m->nq + m->nv, sizeof *qpos), *qvel = qpos + m->nq;
  if (!qpos) return "out of memory";
  for (int k = 0; k < m->nq; ++k) qpos[k] = m->qpos0[k] + 0.1 * sin(1.0 + k); /* nothing special */
  for (int k = 0; k < m->nv; ++k) qvel[k] = sin(2.0 + k);
  const int failed = find_rows(w, qpos, qvel, 0.0);
  free(qpos);
  if (failed) return "there are no rows at the first position";
  for (int k = 0; k < w->count; ++k) {
    const double *row = w->A + k * w->nv;
    double mobility = 0.0;
    for (int i = 0; i < w->nv; ++i) {
      mobility += row[i] * row[i] * m->dof_invweight0[i];
      int inside = 0, wanted = 0;
      for (int j = 0; j <= i; ++j) wanted += row[i] != 0.0 && row[j] != 0.0;
      for (int n = 0; n < m->M_rownnz[i]; ++n) {
        inside += row[i] != 0.0 && row[m->M_colind[m->M_rowadr[i] + n]] != 0.0;
      }
      if (inside != wanted) return "a row couples joints of two branches, which M has no entry for";
    }
    w->weight[k] = scale / mobility;
  }
  return NULL;
}

/* Return why the options of a model are not for this, or NULL. */
static const char *wrong_options(const mjModel *m) {
  if (mj_version() < 4000000 && !(m->opt.disableflags & mjDSBL_ISLAND)) {
    return "MuJoCo before 4.0 needs <flag island=\"disable\"/>: its islands take M too early";
  }
  if (m->opt.noslip_iterations > 0) return "noslip_iterations must be 0";
  return NULL;
}

/* Of a row lambda, and whether it slips. */
static int nstate(const mjModel *m, int instance) {
  (void)m, (void)instance;
  return 2 * kane_dynamics_describe()->rows;
}

/* Find the user sensor of an instance; return why it cannot be, or NULL. */
static const char *find_sensor(const mjModel *m, struct wheels *w, int instance) {
  const char *name = mj_id2name(m, mjOBJ_PLUGIN, instance);
  const int sensor = name ? mj_name2id(m, mjOBJ_SENSOR, name) : -1;
  w->sensor = sensor < 0 ? -1 : m->sensor_adr[sensor];
  const int fits = sensor < 0 || (m->sensor_type[sensor] == mjSENS_USER && m->sensor_dim[sensor] == 2 * w->count);
  return fits ? NULL : "the sensor of this name must be of type user, with two numbers a row";
}

static int init(const mjModel *m, mjData *d, int instance) {
  struct wheels *w = allocated(m);
  if (!w) return -1;
  const char *weight = mj_getPluginConfig(m, instance, "weight");
  const double scale = weight ? strtod(weight, NULL) : 0.0;
  const char *problem = wrong_options(m);
  if (!problem && kane_dynamics_describe()->check()) problem = "the code is for other processors";
  if (!problem && !(scale > 0.0 && scale < HUGE_VAL)) problem = "'weight' must be positive";
  if (!problem) problem = find_joints(m, w, mj_getPluginConfig(m, instance, "joints"));
  if (!problem) problem = find_cones(w, mj_getPluginConfig(m, instance, "friction"));
  if (!problem) problem = find_sensor(m, w, instance);
  if (!problem) problem = fit(m, w, scale);
  if (problem) {
    mju_warning("kane_dynamics wheels: %s", problem);
    free(w);
    return -1;
  }
  d->plugin_data[instance] = (uintptr_t)w;
  return 0;
}

static void destroy(mjData *d, int instance) {
  free((void *)d->plugin_data[instance]);
  d->plugin_data[instance] = 0;
}

static void copy(mjData *target, const mjModel *m, const mjData *source, int instance) {
  (void)m;
  struct wheels *to = (struct wheels *)target->plugin_data[instance];
  const struct wheels *from = (const struct wheels *)source->plugin_data[instance];
  memcpy(to + 1, from + 1, (const char *)(from->slips + from->count) - (const char *)(from + 1));
  to->saved = from->saved;
}

static void reset(const mjModel *m, mjtNum *state, void *data, int instance) {
  memset(state, 0, nstate(m, instance) * sizeof *state);
  if (data) ((struct wheels *)data)->saved = 0;
}

/* MuJoCo sets user sensors to zero before `compute`. */
static void report(const struct wheels *w, mjData *d, const mjtNum *lambda) {
  for (int k = 0; k < w->count && w->sensor >= 0; ++k) {
    d->sensordata[w->sensor + k] = lambda[k];
    d->sensordata[w->sensor + w->count + k] = slip(w, k, d->qvel);
  }
}

/* Take which rows slip, and their friction as `target`: against the slip, or as it was before. */
static void find_friction(struct wheels *w, const mjtNum *lambda, const mjtNum *qvel) {
  for (int k = 0; k < w->count; ++k) w->slips[k] = lambda[w->count + k] > 0.0;
  for (const struct cone *c = w->cone; c < w->cone + w->cones; ++c) {
    if (!w->slips[c->first]) continue;
    double *force = w->target + c->first;
    for (int k = 0; k < c->count; ++k) force[k] = -slip(w, c->first + k, qvel);
    const double speed = mju_norm(force, c->count);
    if (speed > STILL) mju_scl(force, force, c->dynamic / speed, c->count);
    else mju_copy(force, lambda + c->first, c->count);
  }
}

static void compute(const mjModel *m, mjData *d, int instance, int capability) {
  (void)capability;
  struct wheels *w = (struct wheels *)d->plugin_data[instance];
  const char *problem = wrong_options(m);
  if (problem) mju_error("kane_dynamics wheels: %s", problem);
  if (find_rows(w, d->qpos, d->qvel, d->time)) {
    mju_warning("kane_dynamics wheels: no rows at this state");
    return;
  }
  const int in_stages = m->opt.integrator == mjINT_RK4; /* v is off only within a step */
  const mjtNum *lambda = d->plugin_state + m->plugin_stateadr[instance];
  memcpy(w->before, d->qvel, w->nv * sizeof(double));
  memcpy(w->M, d->M, w->nC * sizeof(double));
  memcpy(w->LD, d->qLD, w->nC * sizeof(double));
  memcpy(w->D, d->qLDiagInv, w->nv * sizeof(double));
  w->saved = 1;
  find_friction(w, lambda, d->qvel);
  for (int k = 0; k < w->count; ++k) {
    const double *row = w->A + k * w->nv;
    const double weight = w->slips[k] ? 0.0 : w->weight[k];
    if (!w->slips[k]) w->target[k] = w->b[k] - (in_stages ? 0.0 : slip(w, k, d->qvel) / m->opt.timestep);
    const double force = w->slips[k] ? w->target[k] : weight * w->target[k] + lambda[k];
    for (int i = 0; i < w->nv; ++i) {
      if (row[i] == 0.0) continue;
      d->qfrc_passive[i] += row[i] * force;
      for (int n = m->M_rowadr[i]; n < m->M_rowadr[i] + m->M_rownnz[i]; ++n) {
        d->M[n] += weight * row[i] * row[m->M_colind[n]];
      }
    }
  }
  report(w, d, lambda);
  mj_factorM(m, d);
  if (d->nefc && m->opt.solver == mjSOL_PGS) mj_projectConstraint(m, d);
}

/* Factor A M^-1 A', positive semidefinite: L in the lower triangle; a column of zeros is dropped,
   as rows are that slip. */
static void factor(const mjModel *m, mjData *d, struct wheels *w) {
  const int count = w->count;
  double *S = w->S, largest = 0.0;
  mj_solveM(m, d, w->X, w->A, count);
  mju_mulMatMatT(S, w->A, w->X, count, w->nv, count);
  for (int i = 0; i < count; ++i) largest = fmax(largest, S[i * count + i]);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j <= i; ++j) {
      double s = S[i * count + j];
      for (int k = 0; k < j; ++k) s -= S[i * count + k] * S[j * count + k];
      if (i == j) S[i * count + i] = s > DROPPED * largest && !w->slips[i] ? sqrt(s) : 0.0;
      else S[i * count + j] = S[j * count + j] > 0.0 ? s / S[j * count + j] : 0.0;
    }
  }
}

/* Subtract M^-1 A' (A M^-1 A')^-1 x, x in `change`; what repeats other rows gets nothing. */
static void subtract(struct wheels *w, double *speeds) {
  const int count = w->count;
  double *x = w->change, *S = w->S;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= S[i * count + k] * x[k];
    x[i] = S[i * count + i] > 0.0 ? x[i] / S[i * count + i] : 0.0;
  }
  for (int i = count - 1; i >= 0; --i) {
    for (int k = i + 1; k < count; ++k) x[i] -= S[k * count + i] * x[k];
    x[i] = S[i * count + i] > 0.0 ? x[i] / S[i * count + i] : 0.0;
  }
  for (int k = 0; k < count; ++k) mju_addToScl(speeds, w->X + k * w->nv, -x[k], w->nv);
}

/* Let rows go whose force is too large, and hold those again whose slip has turned around. */
static void switch_cones(struct wheels *w, mjtNum *lambda, const mjtNum *qvel) {
  for (const struct cone *c = w->cone; c < w->cone + w->cones; ++c) {
    const int slipped = w->slips[c->first];
    double *force = lambda + c->first, size = mju_norm(force, c->count), along = 0.0;
    for (int k = 0; k < c->count; ++k) along += force[k] * slip(w, c->first + k, qvel);
    const int slips = slipped ? along < 0.0 : size > c->most;
    if (slips && !slipped) mju_scl(force, force, c->dynamic / size, c->count);
    for (int k = c->first; k < c->first + c->count; ++k) {
      w->slips[k] = slips;
      lambda[w->count + k] = slips;
    }
  }
}

/* Project q onto Phi = 0 by a step of Newton's method, then v onto A v = b0. */
static void project(const mjModel *m, mjData *d, struct wheels *w) {
  double *step = w->before;
  factor(m, d, w);
  if (!mju_isZero(w->Phi, w->count)) {
    memset(step, 0, w->nv * sizeof *step);
    memcpy(w->change, w->Phi, w->count * sizeof(double));
    subtract(w, step);
    mj_integratePos(m, d->qpos, step, 1.0);
    if (find_rows(w, d->qpos, d->qvel, d->time)) return;
    factor(m, d, w);
  }
  for (int pass = 0; pass < 2; ++pass) {
    double largest = 0.0;
    for (int k = 0; k < w->count; ++k) {
      w->change[k] = slip(w, k, d->qvel);
      if (!w->slips[k]) largest = fmax(largest, fabs(w->change[k]));
    }
    if (largest <= ROUNDING) return;
    subtract(w, d->qvel);
  }
}

static void advance(const mjModel *m, mjData *d, int instance) {
  struct wheels *w = (struct wheels *)d->plugin_data[instance];
  mjtNum *lambda = d->plugin_state + m->plugin_stateadr[instance];
  if (!w->saved) return;
  double *a = w->before; /* of the step, or of the last stage */
  if (m->opt.integrator == mjINT_RK4) {
    memcpy(a, d->qacc, w->nv * sizeof(double));
  } else {
    for (int i = 0; i < w->nv; ++i) a[i] = (d->qvel[i] - a[i]) / m->opt.timestep;
  }
  for (int k = 0; k < w->count; ++k) {
    lambda[k] = w->slips[k] ? w->target[k] : lambda[k] + w->weight[k] * missed(w, k, a);
  }
  memcpy(d->M, w->M, w->nC * sizeof(double));
  memcpy(d->qLD, w->LD, w->nC * sizeof(double));
  memcpy(d->qLDiagInv, w->D, w->nv * sizeof(double));
  w->saved = 0;
  if (!find_rows(w, d->qpos, d->qvel, d->time)) {
    switch_cones(w, lambda, d->qvel);
    project(m, d, w);
  }
  report(w, d, lambda);
}

__attribute__((constructor)) static void register_plugin(void) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = PLUGIN_NAME;
  plugin.capabilityflags = mjPLUGIN_PASSIVE;
  plugin.nattribute = sizeof attributes / sizeof *attributes;
  plugin.attributes = attributes;
  plugin.nstate = nstate, plugin.init = init, plugin.destroy = destroy, plugin.copy = copy, plugin.reset = reset;
  plugin.compute = compute, plugin.advance = advance;
  int slot; /* a copy of this file may have been loaded from another folder */
  if (!mjp_getPlugin(PLUGIN_NAME, &slot)) mjp_registerPlugin(&plugin);
}
