# SPDX-License-Identifier: Apache-2.0
"""Robots from MJCF: places, M and bias are those of MuJoCo; what is left out is named."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

mujoco = pytest.importorskip('mujoco', reason='the extra "mujoco" is not installed')

import kane_dynamics as kd  # noqa: E402
from kane_dynamics.exceptions import InvalidInputError, ModelWarning  # noqa: E402

pytestmark = pytest.mark.oracle
FREE = mujoco.mjtJoint.mjJNT_FREE


def models_of_gymnasium():
    """Return the models that the wheel of gymnasium brings."""
    spec = importlib.util.find_spec('gymnasium')
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / 'envs' / 'mujoco' / 'assets').glob('*.xml'))


# two hinges and a slide with anchors and references in one body, a ball, lumped bodies, a wheel
MACHINE = """
<mujoco model="machine">
  <compiler angle="radian" eulerseq="zyx" boundmass="0"/>
  <default><joint armature="0.02" damping="0.3"/>
    <default class="dry"><joint frictionloss="0.4" range="-1 2" limited="true"/></default>
  </default>
  <worldbody>
    <body name="stand" pos="0.1 0 0.3" euler="0.2 0.1 -0.3">
      <geom type="box" size="0.1 0.2 0.05" mass="3" contype="0" conaffinity="0"/>
      <site name="plate" pos="0 0 0.05" euler="0.3 0 0"/>
      <body name="arm" pos="0.05 0.1 0.1" quat="0.9 0.1 0.3 -0.2">
        <joint name="yaw" axis="0 0.2 1" pos="0.02 -0.03 0.04" ref="0.4"/>
        <joint name="lift" type="slide" axis="0.3 0 1" ref="-0.1" class="dry"/>
        <joint name="pitch" axis="0 1 0" pos="0 0 0.07" class="dry"/>
        <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.03" density="900"/>
        <body name="tool" pos="0.4 0.1 0" euler="0 0.5 0">
          <inertial pos="0.01 0.02 0.03" mass="0.7"
            fullinertia="2e-3 3e-3 2.5e-3 1e-4 -2e-4 3e-4"/>
          <site name="tip" pos="0 0 0.1"/>
        </body>
        <body name="head" pos="0.2 0 0.1">
          <joint name="neck" type="ball" pos="0 0.01 -0.05"/>
          <geom type="sphere" size="0.08" pos="0.02 0 0.03" mass="0.5"/>
        </body>
      </body>
      <body name="wheel" pos="0 0.2 0" euler="0 0 1.5707963267948966">
        <joint name="spin" axis="0 0 1"/>
        <geom type="cylinder" size="0.07 0.02" mass="0.4"/>
      </body>
    </body>
    <body name="box" pos="1 0 1"><freejoint/>
      <geom type="box" size="0.1 0.2 0.3" mass="2" pos="0.05 0 0"/></body>
  </worldbody>
  <actuator>
    <motor joint="yaw" gear="50" ctrllimited="true" ctrlrange="-0.2 0.3"/>
    <motor joint="pitch" forcelimited="true" forcerange="-7 9"/>
    <position joint="spin" kp="10"/>
  </actuator>
</mujoco>
"""


def speeds_to_mujoco(model, data):
    """Return T of qvel = T v, and d/dt T v: free joints are (omega, v) in body axes here."""
    T, rate = np.eye(model.nv), np.zeros((model.nv, model.nv))
    for joint in np.flatnonzero(model.jnt_type == FREE):
        k = model.jnt_dofadr[joint]
        R = data.xmat[model.jnt_bodyid[joint]].reshape(3, 3)
        T[k : k + 6, k : k + 6] = 0.0
        T[k : k + 3, k + 3 : k + 6] = R
        T[k + 3 : k + 6, k : k + 3] = np.eye(3)
        omega = data.qvel[k + 3 : k + 6]
        rate[k : k + 3, k + 3 : k + 6] = R @ np.cross(np.eye(3), omega)
    return T, rate


def random_state(model, rng):
    """Return q with unit quaternions, and qvel."""
    data = mujoco.MjData(model)
    q, step = model.qpos0.copy(), rng.normal(size=model.nv)
    mujoco.mj_integratePos(model, q, step, 0.7)
    data.qpos[:], data.qvel[:] = q, rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    return data


def loaded(source):
    """Return the robot, without warnings, and MuJoCo's model."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        robot = kd.load_mjcf(source)
    make = mujoco.MjModel.from_xml_path if isinstance(source, Path) else None
    return robot, (mujoco.MjModel.from_xml_string(source) if make is None else make(str(source)))


def check_against_mujoco(robot, model, seed):
    """Assert that places, M and bias are those of MuJoCo."""
    data = random_state(model, np.random.default_rng(seed))
    T, rate = speeds_to_mujoco(model, data)
    q, v = data.qpos, np.linalg.solve(T, data.qvel)
    kinematics = kd.forward_kinematics(robot, q)
    for k in range(1, model.nbody):
        pose = kinematics.pose(model.body(k).name or f'body_{k}')
        assert_allclose(pose.position(), data.xpos[k], rtol=0, atol=1e-12)
        assert_allclose(pose.rotation_matrix().ravel(), data.xmat[k], rtol=0, atol=1e-12)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    size = np.abs(M).max()
    assert_allclose(kd.mass_matrix(robot, q), T.T @ M @ T, rtol=0, atol=1e-10 * size)
    bias = T.T @ (data.qfrc_bias + M @ (rate @ v))
    assert_allclose(
        kd.bias_force(robot, q, v), bias, rtol=0, atol=1e-10 * max(np.abs(bias).max(), size)
    )


@pytest.mark.parametrize('seed', range(3))
def test_every_kind_of_joint_at_anchors_and_references(seed):
    check_against_mujoco(*loaded(MACHINE), seed)


@pytest.mark.parametrize('path', models_of_gymnasium(), ids=lambda path: path.stem)
def test_models_of_strangers(path):
    check_against_mujoco(*loaded(path), 7)


def test_joints_wheels_and_frames():
    robot, model = loaded(MACHINE)
    assert robot.name == 'machine'
    assert robot.joint_names == ('yaw', 'lift', 'pitch', 'neck', 'spin', 'base')
    assert_allclose(robot.damping[:6], model.dof_damping[:6])
    assert_allclose(robot.armature, model.dof_armature)
    assert_allclose(robot.friction[:3], [0.0, 0.4, 0.4])
    assert_allclose([robot.lower[:3], robot.upper[:3]], [[-np.inf, -1, -1], [np.inf, 2, 2]])
    # 50 x 0.3; the larger end of the range; a servo without a force range has none
    assert_allclose(robot.effort_limit[:3], [15.0, np.inf, 9.0])
    assert robot.effort_limit[robot.velocity_index('spin')] == np.inf
    assert robot.wheels['spin'].radius == pytest.approx(0.07)
    assert {'plate', 'tip', 'tool', 'stand'} <= set(robot.frames)
    data = random_state(model, np.random.default_rng(2))
    tip = kd.forward_kinematics(robot, data.qpos).pose('tip')
    assert_allclose(tip.position(), data.site('tip').xpos, rtol=0, atol=1e-12)


def test_efforts_and_motions_are_those_of_mujoco():
    robot, model = loaded(MACHINE)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
    data = random_state(model, np.random.default_rng(3))
    T, rate = speeds_to_mujoco(model, data)
    v = np.linalg.solve(T, data.qvel)
    mujoco.mj_forward(model, data)
    # dry friction is a constraint there
    motion = kd.forward_dynamics(robot, data.qpos, v, robot.friction * np.sign(v))
    assert_allclose(T @ motion.acceleration + rate @ v, data.qacc, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    'inside, named',
    [
        ('<equality><weld name="hold" body1="a"/></equality>', "equalities ['hold']"),
        (
            '<tendon><fixed name="rope"><joint joint="j" coef="1"/></fixed></tendon>',
            "tendons ['rope']",
        ),
        ('<option density="1.2"/>', 'fluid of density 1.2'),
        ('<default><joint stiffness="3"/></default>', "springs of joints ['j']"),
        ('<default><joint damping="1 2"/></default>', "nonlinear damping of joints ['j']"),
    ],
)
def test_what_is_left_out_is_named(inside, named):
    text = f"""<mujoco>{inside}<worldbody><body name="a"><joint name="j"/>
    <geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    with pytest.warns(ModelWarning, match='left out') as caught:
        kd.load_mjcf(text)
    assert named in str(caught[0].message)


def test_wrong_models_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match='cannot compile'):
        kd.load_mjcf('<mujoco><worldbody><body><joint/></body></worldbody></mujoco>')
    with pytest.raises(InvalidInputError, match='is not a file'):
        kd.load_mjcf(tmp_path / 'none.xml')


def one_joint(options='', joint='', after='', body=''):
    """Return MJCF of one body with a joint 'j'."""
    return f"""<mujoco>{options}<worldbody><body name="a" {body}><joint name="j" {joint}/>
    <geom size=".1" pos=".3 0 0" mass="1"/></body></worldbody>{after}</mujoco>"""


def test_what_a_model_switches_off_is_off():
    """Regression: gravity, damping and friction that flags disable were taken over."""
    for flag, is_off in (
        ('gravity', lambda x: x.gravity),
        ('damper', lambda x: x.damping),
        ('frictionloss', lambda x: x.friction),
        ('constraint', lambda x: x.friction),
    ):
        joint = 'damping="1" frictionloss="2"'
        on, off = (
            kd.load_mjcf(one_joint(f'<option><flag {flag}="{x}"/></option>', joint))
            for x in ('enable', 'disable')
        )
        assert is_off(on).any() and not is_off(off).any(), flag


def test_of_balls_no_axis_has_the_limit_of_an_actuator():
    """Regression: the limit of a motor about one axis was that of all axes of a ball."""
    motor = '<actuator><motor joint="j" gear="2 0 0" ctrlrange="-1 1"/></actuator>'
    robot = kd.load_mjcf(one_joint('', 'type="ball"', motor))
    assert np.isinf(robot.effort_limit).all()


def test_what_an_actuator_integrates_has_no_limit():
    """Regression: the range of the rate of an effort was its limit."""
    motor = '<general joint="j" dyntype="{}" ctrlrange="-1 1" gainprm="10"/>'
    for kind, limit in (('filter', 10.0), ('integrator', np.inf)):
        robot = kd.load_mjcf(one_joint('', '', f'<actuator>{motor.format(kind)}</actuator>'))
        assert robot.effort_limit[0] == limit


def test_free_bodies_without_names():
    """Regression: of two free joints without a name the second was refused."""
    body = '<body pos="0 0 {}"><freejoint/><geom size=".1" mass="1"/></body>'
    world = ''.join(body.format(z) for z in (1, 2, 3))
    text = f'<mujoco><worldbody>{world}</worldbody></mujoco>'
    robot, model = loaded(text)
    assert robot.joint_names == ('base', 'joint_1', 'joint_2')
    check_against_mujoco(robot, model, 1)


@pytest.mark.parametrize(
    'text, named',
    [
        (one_joint('', 'type="ball" range="0 1"'), "ranges of balls ['j']"),
        (one_joint('', 'type="free" armature="1"'), "armature or friction of free joints ['j']"),
        (
            one_joint('', 'type="free" frictionloss="1"'),
            "armature or friction of free joints ['j']",
        ),
        (
            one_joint('', '', '<actuator><motor name="m" joint="j" armature="1"/></actuator>'),
            "armature or damping of actuators ['m']",
        ),
    ],
)
def test_what_has_no_place_in_a_robot_is_named(text, named):
    """Regression: it was left out, or in other axes, without a word."""
    if 'actuator' in named and not hasattr(mujoco.MjModel, 'actuator_armature'):
        pytest.skip('this MuJoCo has no armature of actuators')
    with pytest.warns(ModelWarning) as caught:
        kd.load_mjcf(text)
    assert named in str(caught[0].message)


def test_sites_with_names_of_bodies_are_named():
    """Regression: they were no frames, without a word."""
    text = one_joint().replace('<geom', '<site name="a" pos="1 0 0"/><geom')
    with pytest.warns(ModelWarning, match=r"sites with names of bodies \['a'\]"):
        robot = kd.load_mjcf(text)
    assert_allclose(robot.frame('a').pose.position(), 0.0, rtol=0, atol=0)


def test_what_is_no_text_and_no_number_is_refused(tmp_path):
    """Regression: bytes that are no UTF-8 were a UnicodeDecodeError, NaN a place of a body."""
    path = tmp_path / 'latin.xml'
    for old, new in (('"j"', '"\xe9"'), ('"a"', '"\xe9"'), ('<mujoco>', '<mujoco model="\xe9">')):
        path.write_bytes(one_joint().replace(old, new).encode('latin-1'))
        with pytest.raises(InvalidInputError, match='cannot compile'):
            kd.load_mjcf(path)
    with pytest.raises(InvalidInputError, match='cannot compile'):
        kd.load_mjcf('<mujoco model="\udce9"/>')
    for text in (one_joint('', '', '', 'pos="nan 0 0"'), one_joint('', 'ref="nan"')):
        with pytest.raises(InvalidInputError, match="body 'a': placement: need finite numbers"):
            kd.load_mjcf(text)
