/* SPDX-License-Identifier: Apache-2.0
 * Steps, copies, resets and deletes a model with exact wheels: harness MODEL. Prints x, y, yaw. */
#include <mujoco/mujoco.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char error[1000] = "";
  if (argc != 2) return 2;
  mjModel *m = mj_loadXML(argv[1], NULL, error, sizeof error);
  if (!m) {
    fprintf(stderr, "%s\n", error);
    return 3;
  }
  mjData *d = mj_makeData(m), *other = mj_makeData(m);
  const int integrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST, mjINT_RK4};
  for (size_t k = 0; k < sizeof integrators / sizeof *integrators; ++k) {
    m->opt.integrator = integrators[k];
    mj_resetData(m, d);
    d->ctrl[0] = d->ctrl[1] = 2.0;
    for (int i = 0; i < 50; ++i) mj_step(m, d);
    mj_forward(m, d);
    mj_copyData(other, m, d); /* between compute and advance */
    for (int i = 0; i < 50; ++i) mj_step(m, d), mj_step(m, other);
    if (memcmp(d->qpos, other->qpos, m->nq * sizeof(mjtNum))) return 4;
    printf("%.17g %.17g %.17g\n", d->qpos[0], d->qpos[1], d->qpos[2]);
  }
  d->qpos[0] = NAN; /* MuJoCo resets itself */
  mj_step(m, d);
  mj_deleteData(other);
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
