# SPDX-License-Identifier: Apache-2.0
"""Wheels that roll inside MuJoCo: against our own dynamics, statics and the laws of contact."""

import ctypes
import subprocess
import sys
import threading
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from support.base_urdf import write_preset
from support.mechanisms import four_bar_loop

import kane_dynamics as kd
from kane_dynamics import cli
from kane_dynamics.exceptions import InvalidInputError, ModelWarning, NameNotFoundError
from kane_dynamics.robot_config.robot_source import model_of_file

mujoco = pytest.importorskip('mujoco', reason='pip install mujoco')
plugin = pytest.importorskip('kane_dynamics.mujoco.plugin')
ROWS = 3
WHEELS = 'wheel_left_joint', 'wheel_right_joint'
STIFFNESS = np.array([40.0, 60.0, 40.0, 10.0, 5.0])
DAMPING = np.array([2.0, 4.0, 3.0, 0.5, 0.5])
TORQUE = np.array([0.0, 0.0, 0.0, 1.0, 1.6, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope='module')
def path(robots):
    """Return the URDF of the shipped robot."""
    return robots / 'nonholonomic.urdf'


@pytest.fixture(scope='module')
def rolling(path):
    """Return the shipped robot without friction, and its wheels."""
    robot = kd.load_urdf(path, base='planar')
    return robot, [kd.constraints.differential_drive(robot, *WHEELS)]


def with_springs(path, integrator='implicitfast', step=0.002):
    """Return the shipped robot in MuJoCo, its arm on springs and dampers; no wheels yet."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f'mjINT_{integrator.upper()}')
    spec.option.timestep = step
    for joint in spec.joints:
        spring = int(joint.name[4]) - 1 if joint.name.startswith('arm') else None
        joint.limited, joint.frictionloss, joint.springref = False, 0.0, 0.0
        for name, values in (('stiffness', STIFFNESS), ('damping', DAMPING)):
            value = 0.0 if spring is None else values[spring]
            several = np.ndim(getattr(joint, name))  # a polynomial from MuJoCo 4.0 on
            setattr(joint, name, [value, 0.0, 0.0] if several else value)
    return spec


def pushed(model, seconds, torque=TORQUE):
    """Return the state of a model after some time under constant efforts."""
    data = mujoco.MjData(model)
    data.qfrc_applied[:] = torque
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    return data


@pytest.fixture(scope='module')
def truth(rolling):
    """Return q and v of the robot on springs after two seconds, by our own dynamics."""
    robot, wheels = rolling
    engine = kd.compile(robot, wheels)

    def rate(_, state):
        q, v = np.split(state, 2)
        effort = TORQUE + kd.friction_force(robot, v)
        effort[5:] -= STIFFNESS * q[5:] + DAMPING * v[5:]
        return np.concatenate([v, engine.forward_dynamics(q, v, effort).acceleration])

    options = {'method': 'DOP853', 'rtol': 1e-11, 'atol': 1e-12}
    return np.split(solve_ivp(rate, (0.0, 2.0), np.zeros(20), **options).y[:, -1], 2)


def slip(rolling, data):
    """Return the largest A v - b0 of a state."""
    rows = kd.dynamics(*rolling).constraint_rows(data.qpos, data.qvel)
    return np.abs(rows.matrix @ data.qvel - rows.velocity).max()


def errors(path, rolling, truth, integrator, steps, weight=plugin.WEIGHT):
    """Return the largest error of the base at some step sizes; wheels must roll."""
    found = []
    for step in steps:
        spec = with_springs(path, integrator, step)
        kd.mujoco.attach(spec, *rolling, weight=weight)
        data = pushed(spec.compile(), 2.0)
        assert slip(rolling, data) < 1e-14
        found.append(np.abs(data.qpos - truth[0])[:3].max())
    return found


def test_runge_kutta_agrees_with_our_own_dynamics(path, rolling, truth):
    fine, coarse = errors(path, rolling, truth, 'rk4', (0.001, 0.002))
    assert coarse < 1e-7  # seven digits of a metre
    assert fine < 0.5 * coarse


@pytest.mark.parametrize('integrator', ['implicitfast', 'euler', 'implicit'])
def test_other_integrators_are_of_first_order(path, rolling, truth, integrator):
    coarse, fine = errors(path, rolling, truth, integrator, (0.002, 0.001))
    assert_allclose(coarse / fine, 2.0, rtol=0.05)
    assert coarse < 2e-3  # of a way of a metre


def test_results_do_not_depend_on_the_weight(path, rolling, truth):
    for weight in (1e1, 1e2, 1e4):
        spec = with_springs(path)
        kd.mujoco.attach(spec, *rolling, weight=weight)
        data = pushed(spec.compile(), 2.0)
        own = with_springs(path)
        kd.mujoco.attach(own, *rolling)
        assert_allclose(data.qpos, pushed(own.compile(), 2.0).qpos, rtol=2e-5, atol=1e-7)


def test_the_sensor_tells_multipliers_and_slip(path, rolling):
    spec = with_springs(path)
    kd.mujoco.attach(spec, *rolling)
    model = spec.compile()
    data = pushed(model, 1.0)
    mujoco.mj_forward(model, data)
    effort = TORQUE.copy() + kd.friction_force(rolling[0], data.qvel)
    effort[5:] -= STIFFNESS * data.qpos[5:] + DAMPING * data.qvel[5:]
    motion = kd.dynamics(*rolling).forward_dynamics(data.qpos, data.qvel, effort)
    found = data.sensor(plugin.NAME).data
    # of the implicit step, an h later: first order
    assert_allclose(found[:ROWS], motion.multipliers, atol=2e-2 * np.abs(motion.multipliers).max())
    assert_allclose(found[ROWS:], 0.0, atol=1e-15)


def test_wheels_slip_beyond_their_friction_and_roll_again(path, rolling):
    robot = rolling[0]
    ground = [
        kd.constraints.traction(kd.constraints.rolling_wheel(robot, name), 150.0, 0.3)
        for name in WHEELS
    ]
    arm = [
        kd.constraints.lock(robot, name) for name in robot.joint_names if name.startswith('arm')
    ]
    parts = {f'part {k}': part for k, part in enumerate([*arm, *ground])}
    events = kd.EventSimulation(robot, parts, step=0.01, dynamics=kd.compile(robot))
    courses = (0.3, 12.0, 9.0), (0.3, 0.0, -2.0)  # both spin, then roll again one by one
    torque = np.zeros(robot.nv)
    for seconds, *torque[3:5] in courses:
        events.step(torque, round(seconds / 0.01))
    assert [event.kind for event in events.events] == ['changes'] * 3
    found = []
    for step in (0.001, 0.0005):
        spec = mujoco.MjSpec.from_file(str(path))  # its joints have the friction of the robot's
        spec.option.timestep, spec.option.integrator = (
            step,
            mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
        )
        kd.mujoco.attach(spec, robot, [*arm, *ground])
        model = spec.compile()
        data = mujoco.MjData(model)
        for seconds, *torque[3:5] in courses:
            data.qfrc_applied[:] = torque
            mujoco.mj_step(model, data, round(seconds / step))
        found.append(np.abs(data.qpos - events.q)[:3].max())
        assert_allclose(data.sensor(plugin.NAME).data[len(arm) + 4 :], 0.0, atol=1e-14)
    assert_allclose(found[0] / found[1], 2.0, rtol=0.05)  # first order
    assert found[1] < 2e-3  # of a way of 0.3 m


@pytest.mark.parametrize(
    ('integrator', 'solver'),
    [('implicitfast', 'newton'), ('rk4', 'newton'), ('implicitfast', 'pgs')],
)
def test_wheels_push_a_wall_with_their_torque(path, rolling, integrator, solver):
    spec = with_springs(path, integrator)
    spec.option.solver = getattr(mujoco.mjtSolver, f'mjSOL_{solver.upper()}')
    box, place = mujoco.mjtGeom.mjGEOM_BOX, (0.75, 0.0, 0.3)
    spec.worldbody.add_geom(name='wall', type=box, size=[0.1, 1.0, 0.3], pos=place)
    kd.mujoco.attach(spec, *rolling)
    model, torque = spec.compile(), np.zeros(10)
    torque[3:5] = 6.0
    data, force = pushed(model, 10.0, torque), np.zeros(3)
    for k, contact in enumerate(data.contact):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, k, wrench)
        force += contact.frame.reshape(3, 3).T @ wrench[:3]
    assert_allclose(abs(force[0]), 2.0 * 6.0 / 0.1, rtol=1e-3)
    assert slip(rolling, data) < 1e-14


def test_solvers_agree_on_an_impact(path, rolling):
    speeds = {}
    for solver in ('newton', 'cg', 'pgs'):
        spec = with_springs(path)
        spec.option.solver = getattr(mujoco.mjtSolver, f'mjSOL_{solver.upper()}')
        spec.option.iterations, spec.option.tolerance = 1000, 1e-14
        box, place = mujoco.mjtGeom.mjGEOM_BOX, (0.4, 0.0, 0.3)
        spec.worldbody.add_geom(name='wall', type=box, size=[0.1, 1.0, 0.3], pos=place)
        kd.mujoco.attach(spec, *rolling)
        model = spec.compile()
        data = mujoco.MjData(model)
        data.qvel[[0, 3, 4]] = 0.5, 5.0, 5.0  # it rolls into the wall
        mujoco.mj_step(model, data, 60)
        speeds[solver] = data.qvel.copy()
    assert speeds['newton'][0] < 0.3  # it has hit
    assert_allclose(speeds['cg'], speeds['newton'], atol=1e-6)
    assert_allclose(speeds['pgs'], speeds['newton'], atol=1e-6)


def test_limits_hold_in_the_metric_of_the_wheels(path, rolling):
    """Random efforts throw the arm against its limits: without islands' haste nothing breaks."""
    spec = with_springs(path)
    for joint in spec.joints:
        joint.limited = joint.name.startswith('arm')
    kd.mujoco.attach(spec, *rolling)
    model = spec.compile()
    data, random = mujoco.MjData(model), np.random.default_rng(3)
    for _ in range(100):
        data.qfrc_applied[3:] = random.normal(0.0, 0.3 * rolling[0].effort_limit[3:])
        mujoco.mj_step(model, data, 50)
        limits = model.jnt_range[5:]
        assert (data.qpos[5:] > limits[:, 0] - 0.1).all()
        assert (data.qpos[5:] < limits[:, 1] + 0.1).all()
        assert slip(rolling, data) < 1e-12 * (1.0 + np.abs(data.qvel).max())


@pytest.mark.parametrize('kind', ['mecanum', 'skid_steer', 'ackermann', 'swerve'])
def test_bases_of_all_kinds_roll(kind, tmp_path):
    described = model_of_file(write_preset(kind, tmp_path))
    robot, base = described.robot, described.constraints
    spec = mujoco.MjSpec.from_string(described.text)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    kd.mujoco.attach(spec, robot, base)
    model = spec.compile()
    effort = np.zeros(robot.nv)
    effort[[robot.velocity_index(name) for name in robot.joint_names if 'wheel' in name]] = 1.0
    effort[robot.velocity_index('fl_wheel')] = 1.3
    effort[robot.velocity_index('lift_joint')] = 2.0 * 9.81
    data = pushed(model, 1.0, effort)
    assert slip((robot, base), data) < 1e-13
    assert np.abs(data.qvel[:3]).max() > 0.05

    engine = kd.dynamics(robot, base)

    def rate(_, state):
        q, v = np.split(state, 2)
        return np.concatenate([v, engine.forward_dynamics(q, v, effort).acceleration])

    options = {'rtol': 1e-9, 'atol': 1e-10}
    end = solve_ivp(rate, (0.0, 1.0), np.zeros(2 * robot.nv), **options).y[: robot.nv, -1]
    assert_allclose(data.qpos, end, atol=1e-6)


def test_a_floating_base_rolls_and_falls_on_two_wheels(path):
    robot = kd.load_urdf(
        path, base='floating', locked_joints=[f'arm_{k}_joint' for k in range(1, 6)]
    )
    rows = [kd.constraints.rolling_wheel(robot, name) for name in WHEELS]
    spec = kd.mujoco.spec_of_urdf(path, robot)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    kd.mujoco.attach(spec, robot, rows)
    model = spec.compile()
    effort = np.array([0.0] * 6 + [1.0, 1.6])
    data = pushed(model, 0.4, effort)
    rest = np.zeros(robot.nv)
    options = {'effort': effort, 'constraints': rows, 'step': 0.002}
    wanted = kd.simulate(robot, robot.neutral(), rest, 0.4, **options)
    assert_allclose(data.qpos, wanted.q[-1], atol=1e-6)
    assert abs(data.qpos[4:7]).max() > 0.1  # it has turned and tipped
    mujoco.mj_forward(model, data)
    assert data.sensor(plugin.NAME).data.size == 2 * 6
    assert_allclose(data.sensor(plugin.NAME).data[6:], 0.0, atol=1e-13)


def test_copies_resets_and_threads_have_states_of_their_own(path, rolling):
    spec = with_springs(path)
    kd.mujoco.attach(spec, *rolling)
    model = spec.compile()
    data = pushed(model, 0.5)
    other = mujoco.MjData(model)
    mujoco.mj_copyData(other, model, data)
    mujoco.mj_step(model, data, 100)
    mujoco.mj_step(model, other, 100)
    assert_array_equal(other.qpos, data.qpos)
    mujoco.mj_resetData(model, other)
    other.qfrc_applied[:] = TORQUE
    mujoco.mj_step(model, other, 350)
    assert_array_equal(other.qpos, data.qpos)

    rollout = pytest.importorskip('mujoco.rollout')
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, other, start, kind)
    states = np.tile(start, (4, 1))
    several = [mujoco.MjData(model) for _ in range(2)]
    ends, _ = rollout.rollout(model, several, states, nstep=50)
    alone, _ = rollout.rollout(model, several[:1], states[:1], nstep=50)
    for end in ends:
        assert_array_equal(end, alone[0])


@pytest.mark.parametrize('integrator', ['implicitfast', 'rk4'])
def test_holonomic_rows_do_not_drift(path, rolling, integrator):
    robot, wheels = rolling
    follows = kd.constraints.coupling(robot, 'arm_2_joint', 'arm_3_joint', -0.5, 0.1)
    spec = with_springs(path, integrator, 0.01)
    kd.mujoco.attach(spec, robot, [*wheels, follows])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[robot.coordinate_index('arm_2_joint')] = 0.1 + 1e-3  # off by a millimetre
    data.qfrc_applied[:] = TORQUE
    for _ in range(5):
        mujoco.mj_step(model, data, 40)
        second, third = data.joint('arm_2_joint'), data.joint('arm_3_joint')
        assert abs(third.qpos[0]) > 0.01
        assert_allclose(second.qpos, 0.1 - 0.5 * third.qpos, atol=1e-12)
        assert_allclose(second.qvel, -0.5 * third.qvel, atol=1e-12)
        assert slip(rolling, data) < 1e-13


def test_two_robots_roll_in_one_model(path, rolling):
    robot, wheels = rolling
    alone = with_springs(path)
    kd.mujoco.attach(alone, robot, wheels)
    wanted = pushed(alone.compile(), 1.0)
    world = mujoco.MjSpec.from_string('<mujoco><option timestep="0.002"/></mujoco>')
    world.option.integrator, world.compiler.degree = alone.option.integrator, False
    names = [*(f'base_{x}' for x in ('x', 'y', 'yaw')), *robot.joint_names[1:]]
    for prefix, place in (('left_', 5.0), ('right_', -5.0)):
        spec = with_springs(path)
        body = spec.worldbody.first_body()
        for name, axis in (('x', (1, 0, 0)), ('y', (0, 1, 0)), ('yaw', (0, 0, 1))):
            kind = mujoco.mjtJoint.mjJNT_HINGE if name == 'yaw' else mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(name=f'base_{name}', type=kind, axis=axis)
        world.attach(spec, frame=world.worldbody.add_frame(pos=[0, place, 0]), prefix=prefix)
        joints = {name: f'{prefix}{name}' for name in names}
        kd.mujoco.attach(world, robot, wheels, joints=joints, name=f'{prefix}wheels')
    data = pushed(world.compile(), 1.0, np.tile(TORQUE, 2))
    for prefix in ('left_', 'right_'):
        place = [data.joint(f'{prefix}{name}').qpos[0] for name in names]
        assert_allclose(place, wanted.qpos, atol=1e-9)
        assert_allclose(
            data.sensor(f'{prefix}wheels').data, wanted.sensor(plugin.NAME).data, atol=1e-7
        )


def test_other_bodies_may_sleep(path, rolling):
    if mujoco.mj_version() < plugin.FIRST:
        pytest.skip('bodies sleep from MuJoCo 4.0 on, where islands are solved with our M')
    ends = []
    for sleeps in (False, True):
        spec = with_springs(path)
        box = spec.worldbody.add_body(name='box', pos=[3.0, 0.0, 0.0], gravcomp=1.0)
        box.add_freejoint()
        box.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
        if sleeps:
            spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        kd.mujoco.attach(spec, *rolling)
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 2000)  # all comes to rest
        if sleeps:
            assert data.tree_asleep[model.body_treeid[model.body('box').id]] >= 0
        data.qfrc_applied[model.joint('wheel_left_joint').dofadr[0]] = 2.0
        mujoco.mj_step(model, data, 500)
        ends.append(data.qpos[:10] if model.joint('base_x').qposadr[0] == 0 else data.qpos[7:])
    assert abs(ends[0][2]) > 0.5  # it has turned
    assert_allclose(ends[1], ends[0], atol=1e-9)


def test_a_plugin_may_be_loaded_from_two_folders(path, rolling, tmp_path):
    for folder in (tmp_path / 'one', tmp_path / 'other'):
        spec = with_springs(path)
        assert kd.mujoco.attach(spec, *rolling, folder=folder).parent == folder
        pushed(spec.compile(), 0.1)
    # an error while it is loaded would leave the lock of the loader closed for other threads
    thread = threading.Thread(target=ctypes.CDLL, args=[None], daemon=True)
    thread.start()
    thread.join(10.0)
    assert not thread.is_alive()


def test_what_cannot_be_is_refused(path, rolling):
    robot, wheels = rolling
    with pytest.raises(InvalidInputError, match='need at least one'):
        kd.mujoco.attach(with_springs(path), robot, [])
    with pytest.raises(NameNotFoundError, match='elbow'):
        kd.mujoco.attach(with_springs(path), robot, wheels, joints={'arm_1_joint': 'elbow'})
    floor = kd.constraints.contact(kd.constraints.joint_limit(robot, 'arm_1_joint', 'upper'))
    with pytest.raises(InvalidInputError, match='MuJoCo has its own contacts'):
        kd.mujoco.attach(with_springs(path), robot, [*wheels, floor])
    for friction in ('0 1 nan 1', '0 1 2', '0 9 1 1', '-1 1 1 1', '0 1 2 1', '0 1 1 1 ' * 4):
        spec = with_springs(path)
        kd.mujoco.attach(spec, robot, wheels)
        (instance,) = spec.plugins
        instance.config = {**instance.config, 'friction': friction}
        with pytest.raises(ValueError, match="'friction'"):
            spec.compile()
    for weight in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInputError, match='weight'):
            kd.mujoco.attach(with_springs(path), robot, wheels, weight=weight)
    spec = with_springs(path)
    spec.option.noslip_iterations = 3
    kd.mujoco.attach(spec, robot, wheels)
    with pytest.raises(ValueError, match='noslip_iterations must be 0'):
        spec.compile()


def test_the_command_writes_a_model_that_needs_mujoco_alone(tmp_path):
    arguments = ['build', 'nonholonomic', '--mujoco', '--name', 'mobile', '--output']
    assert cli.main([*arguments, str(tmp_path)]) == 0
    (library,) = tmp_path.glob('lib/mujoco_plugins/*.so')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index'
    assert (index / 'mujoco_plugins' / 'mobile_wheels').read_text() == 'lib/mujoco_plugins'
    assert (index / 'packages' / 'mobile_wheels').is_file()
    program = (
        'import mujoco, sys; mujoco.mj_loadPluginLibrary(sys.argv[1]); '
        'm = mujoco.MjModel.from_xml_path(sys.argv[2]); d = mujoco.MjData(m); d.ctrl[:2] = 2.0; '
        'mujoco.mj_step(m, d, 500); print(*d.qpos[:3], *d.sensor("wheels").data); '
        'assert "kane_dynamics" not in sys.modules'
    )
    command = [sys.executable, '-c', program, str(library), str(tmp_path / 'mobile.xml')]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    numbers = np.array(done.stdout.split(), dtype=float)
    assert numbers[0] > 0.1  # it drives
    assert_allclose(numbers[6:], 0.0, atol=1e-15)  # and does not slip


def test_a_scene_surrounds_the_robot(tmp_path, robots):
    scene = robots.parent / 'config' / 'mujoco' / 'scene.xml'
    arguments = ['build', 'nonholonomic', '--mujoco', '--output', str(tmp_path), '--scene']
    assert cli.main([*arguments, str(scene)]) == 0
    model = mujoco.MjModel.from_xml_path(str(tmp_path / 'nonholonomic.xml'))
    data = mujoco.MjData(model)
    data.ctrl[:2] = 2.0
    mujoco.mj_step(model, data, 1000)
    assert data.joint('base_x').qpos[0] > 0.5  # neither wheels nor caster rub on the floor
    assert data.body('scene_box').xpos[2] > 0.5  # it lies on the table
    (tmp_path / 'none.xml').write_text('<nothing>')
    assert cli.main([*arguments, str(tmp_path / 'none.xml')]) != 0
    assert cli.main([*arguments, str(tmp_path / 'missing.xml')]) != 0


def test_an_environment_of_gymnasium_takes_the_model(tmp_path):
    environments = pytest.importorskip('gymnasium.envs.mujoco', reason='pip install gymnasium')
    assert cli.main(['build', 'nonholonomic', '--mujoco', '--output', str(tmp_path)]) == 0
    mujoco.mj_loadAllPluginLibraries(str(tmp_path / 'lib' / 'mujoco_plugins'))

    class Drive(environments.MujocoEnv):
        metadata: ClassVar = {'render_modes': ['human', 'rgb_array', 'depth_array', 'rgbd_tuple']}

        def step(self, action):
            self.do_simulation(action, self.frame_skip)
            return self.data.qpos.copy(), float(self.data.qvel[0]), False, False, {}

        def reset_model(self):
            self.set_state(self.init_qpos, self.init_qvel)
            return self.data.qpos.copy()

    box = pytest.importorskip('gymnasium').spaces.Box(-np.inf, np.inf, (10,))
    env = Drive(str(tmp_path / 'nonholonomic.xml'), 5, box)
    ways = []
    for _ in range(2):
        env.reset()
        for _ in range(50):
            place, *_ = env.step(np.array([2.0, 2.0, 0, 0, 0, 0, 0]))
        ways.append(place[0])
        assert_allclose(env.data.sensor(plugin.NAME).data[ROWS:], 0.0, atol=1e-15)
    assert ways[0] == ways[1] > 0.1
    env.close()


def test_meshes_beside_a_urdf_are_read(tmp_path, monkeypatch):
    corners = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    (tmp_path / 'meshes').mkdir()
    lines = [f'v {x} {y} {z}' for x, y, z in corners] + [
        'f 1 3 2',
        'f 1 2 4',
        'f 1 4 3',
        'f 2 3 4',
    ]
    (tmp_path / 'meshes' / 'corner.obj').write_text('\n'.join(lines))
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    mesh = '<mesh filename="meshes/corner.obj"/>'
    urdf = tmp_path / 'corner.urdf'
    urdf.write_text(
        f"""<robot name="corner"><link name="base"><inertial><mass value="1"/>{inertia}</inertial>
        <collision><geometry>{mesh}</geometry></collision></link></robot>"""
    )
    robot = kd.load_urdf(urdf, base='floating')
    monkeypatch.chdir(tmp_path.parent)
    for path in (urdf, urdf.relative_to(tmp_path.parent)):
        model = kd.mujoco.spec_of_urdf(path, robot).compile()
        assert model.nmesh == 1
    with pytest.raises(InvalidInputError, match='corner.obj. is not a file'):
        kd.mujoco.spec_of_urdf(urdf.read_text(), robot)


def test_the_urdf_of_tiago_has_the_masses_of_the_robot():
    tiago = model_of_file('tiago')
    robot = tiago.robot
    with pytest.warns(ModelWarning, match='arm_1_collision.dae'):
        spec = kd.mujoco.spec_of_urdf(tiago.text, robot, tiago.motors)
    kd.mujoco.attach(spec, robot, tiago.constraints)
    model = spec.compile()
    assert model.nv == robot.nv and model.nu == len(tiago.motors)
    limits = robot.effort_limit[[robot.velocity_index(name) for name in tiago.motors]]
    assert_allclose(model.actuator_ctrlrange[:, 1], limits)
    data, q = mujoco.MjData(model), np.random.default_rng(0).uniform(-0.3, 0.3, robot.nv)
    places = [model.joint(name).qposadr[0] for name in robot.velocity_names]
    data.qpos[places] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    full = np.zeros((model.nv, model.nv))
    if mujoco.mj_version() >= plugin.FIRST:
        mujoco.mj_fullM(model, data, full)
    else:
        mujoco.mj_fullM(model, full, data.qM)
    assert_allclose(full[np.ix_(places, places)], kd.mass_matrix(robot, q), atol=1e-12)


def test_rows_that_couple_two_branches_are_refused():
    robot, rows, _, _ = four_bar_loop()
    with pytest.raises(InvalidInputError, match='two branches'):
        plugin.check_branches(robot, kd.constraints.ConstraintSet.of(robot, rows))
