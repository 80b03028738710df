# SPDX-License-Identifier: Apache-2.0
"""From graph to page: operations, identities, text, LaTeX, source, and the command."""

import casadi as ca
import pytest
from support.machines import planar_2r
from symbolic_cases import CASES, equations_of

import kane_dynamics as kd
from kane_dynamics.cli import main
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.symbolic.equations import QUANTITIES, equations_of_motion

sm = pytest.importorskip('sympy', reason='the extra "symbolic" is not installed')

from kane_dynamics.symbolic.graph import PlainAlgebra, converted  # noqa: E402  (needs SymPy)
from kane_dynamics.symbolic.short_forms import ShortAlgebra  # noqa: E402  (needs SymPy)

x, y = sm.symbols('x y', real=True)
a, b = ca.SX.sym('x'), ca.SX.sym('y')
ALGEBRAS = {'short': ShortAlgebra, 'plain': PlainAlgebra}
EXPRESSIONS = {
    'polynomial': (a + b) * (a - b) + 3 * a**2 - b**3 / 4,
    'powers': (1 + a**2) ** 5 * (2 + b**2) ** -2 + (1 + a**2) ** 0.5 + (2 + a**2) ** -0.5,
    'other powers': (2 + a**2) ** b + (2 + a**2) ** 2.3,
    'waves': ca.sin(a / 2) * ca.cos(a / 2) * ca.cos(3 * b - a + 0.4) + ca.sin(0.7 * a) ** 2,
    'wave of a product': ca.sin(a * b) + ca.cos(ca.tanh(a)) + ca.tan(a),
    'quotients': (a**2 - b**2) / (a**2 + b**2) + ca.sin(a) / (2 + ca.cos(a)) / (4 + 2 * ca.cos(a)),
    'roots': ca.sqrt(1 + a**2 + b**2) * ca.sqrt(1 + a**2 + b**2) + 1 / ca.sqrt(2 + ca.sin(b)),
    'root of a square': ca.sqrt(a**2 - 2 * a * b + b**2) + 1 / ca.sqrt(1 - ca.sin(a) ** 2),
    'exponentials': ca.exp(a) + ca.log(2 + a**2) + ca.expm1(b) + ca.log1p(b**2),
    'hyperbolic': ca.sinh(a) + ca.cosh(a) * ca.tanh(b) + ca.asinh(a) + ca.acosh(2 + a**2),
    'arcs': ca.asin(ca.sin(a) / 2) + ca.acos(ca.cos(b) / 2) + ca.atan(a) + ca.atan2(a, b),
    'more arcs': ca.atanh(ca.sin(a) / 2) + ca.erf(a) + ca.hypot(a, b),
    'pieces': ca.fabs(a) + ca.sign(b) * a + ca.floor(3 * a) + ca.ceil(2 * b),
    'extremes': ca.fmin(a, b) * ca.fmax(a, b - 1) + ca.copysign(a, b) + ca.fmod(3 * a, b),
    'choice': ca.if_else(a < b, a * b, a - b) + ca.if_else(a <= 0, 1, b) * 2,
    'logic': ca.logic_and(a < 0, b > 0) + 2 * ca.logic_or(a < 0, b > 0) + 4 * ca.logic_not(a < b),
    'equality': (a == a * 1.0) + 2 * (ca.floor(a) != ca.floor(b)) + 3 * (ca.floor(a) == -1),
}


def expression(graph, algebra='short', **options):
    function = ca.Function('f', [a, b], [graph])
    return converted(function, [[x], [y]], ALGEBRAS[algebra](**options))[0][0]


@pytest.mark.parametrize('algebra', ALGEBRAS)
@pytest.mark.parametrize('name', EXPRESSIONS)
def test_operations(name, algebra, rng):
    graph = EXPRESSIONS[name]
    function = ca.Function('f', [a, b], [graph])
    got = expression(graph, algebra)
    for values in rng.uniform(-2.0, 2.0, (6, 2)):
        expected = float(function(*values))
        number = complex(got.subs({x: values[0], y: values[1]}).evalf())
        # sums of at most some dozens of terms of order 1 to 100
        assert abs(number - expected) < 1e-11 * max(1.0, abs(expected))


@pytest.mark.parametrize(
    ('graph', 'known'),
    [
        (ca.sin(a) ** 2 + ca.cos(a) ** 2, 1),
        (2 * ca.sin(a / 2) * ca.cos(a / 2), sm.sin(x)),
        (ca.cos(a / 2) ** 2 - ca.sin(a / 2) ** 2, sm.cos(x)),
        (ca.cos(a) * ca.cos(b) - ca.sin(a) * ca.sin(b), sm.cos(x + y)),
        (1 - ca.cos(a) ** 2, sm.sin(x) ** 2),
        ((a**2 - 1) / (a - 1), x + 1),
        (1 / (1 / (1 + a)), x + 1),
        (a / ca.sqrt(1 + a * a) * ca.sqrt(1 + a * a), x),
        (ca.cos(a) / ca.sqrt(1 - ca.sin(a) ** 2), sm.sign(sm.cos(x))),
        (b * ca.sqrt(1 + a**2) * ca.sqrt(1 + a**2) - b * a**2, y),
        (2 * a * b + b * b, y * (2 * x + y)),
        (0.1 + 0.2 + 0 * a, sm.Float(0.3)),
        (a / 3 * 3, x),
        (((a**16) ** 16) ** 2, x**512),
    ],
)
def test_identities(graph, known):
    assert expression(graph) == known


def test_unit_quaternions():
    wxyz = sm.symbols('w x y z', real=True)
    q = ca.SX.sym('q', 4)
    unit = q / ca.norm_2(q)
    turn = 1 - 2 * (unit[2] ** 2 + unit[3] ** 2), unit[0] ** 2 + unit[3] ** 2 - 0.5
    function = ca.Function('f', [q], [ca.vertcat(ca.sumsqr(q) ** 3, unit, *turn)])
    (got,) = converted(function, [wxyz], ShortAlgebra([wxyz]))
    w, x, y, z = wxyz
    assert [*got] == [1, w, x, y, z, 1 - 2 * y**2 - 2 * z**2, sm.Float(0.5) - x**2 - y**2]


@pytest.mark.parametrize(
    ('graph', 'message'),
    [
        (ca.erfinv(a), 'OP_ERFINV of CasADi has no SymPy form'),
        (
            1 / (a - a * ca.sin(b) ** 2 - a * ca.cos(b) ** 2),
            'divide by an expression that is zero',
        ),
        (ca.log(2 * ca.sin(a / 2) ** 2 + ca.cos(a) - 3), 'OP_LOG gives .* no real number'),
        (ca.log(a * 0 - 2) * b, 'a constant that is nan'),
    ],
)
def test_what_cannot_be_converted(graph, message):
    with pytest.raises(InvalidInputError, match=message):
        expression(graph)


def test_an_unknown_operation_as_traced():
    with pytest.raises(InvalidInputError, match='OP_ERFINV'):
        expression(ca.erfinv(a), 'plain')


SHORT = ('cart_pole', 'sleigh', 'wrist', 'driven_arm')


@pytest.mark.parametrize('case', SHORT)
def test_text_can_be_read_back(case, rng):
    robot, _ = CASES[case]()
    equations = equations_of(case)
    symbols = [
        *equations.q, *equations.v, *equations.vdot, *equations.tau, *equations.multipliers,
        equations.t,
    ]  # fmt: skip
    lines = [line for line in equations.text(digits=17).splitlines() if ' = ' in line]
    lines = [line for line in lines if not line.startswith('d(')]
    expected = equations.equations()
    motion, rows = lines[: robot.nv], lines[robot.nv :]
    assert len(rows) == 2 * len(equations.labels)
    values = dict(zip(symbols, rng.uniform(0.5, 1.5, len(symbols)), strict=True))
    for line, equation in zip([*motion, *rows[1::2]], expected, strict=True):
        left, right = (
            sm.parse_expr(side, {s.name: s for s in symbols}) for side in line.split(' = ')
        )
        gap = (left - right) - (equation.lhs - equation.rhs)
        assert abs(gap.subs(values).evalf()) < 1e-12  # entries up to 40, all digits printed


@pytest.mark.parametrize('case', SHORT)
def test_source_makes_the_same_matrices(case):
    equations = equations_of(case)
    namespace = {}
    exec(equations.source(), namespace)
    assert tuple(namespace['q']) == equations.q
    assert tuple(namespace['vdot']) == equations.vdot
    assert tuple(namespace['labels']) == equations.labels
    for quantity in QUANTITIES:
        difference = namespace[quantity] - getattr(equations, quantity)
        assert difference.expand() == sm.zeros(*difference.shape)


def test_text_of_the_cart_pole():
    text = equations_of('cart_pole').text(3)
    first, second = text.splitlines()[1:3]
    assert first.startswith('2.34*vdot_x + 0.15*vdot_theta*cos(theta)')
    assert first.endswith('= tau_x')
    assert '0.5*sign(v_x)' in first
    assert '- 1.47*sin(theta)' in second


def test_a_robot_without_joints():
    nothing = equations_of_motion(kd.Robot('nothing', []))
    assert nothing.equations() == []
    assert nothing.mass_matrix.shape == (0, 0)
    assert nothing.text() == 'equations of motion of nothing'


def balanced(text):
    depth = 0
    for character in text.replace(r'\{', '').replace(r'\}', ''):
        depth += {'{': 1, '}': -1}.get(character, 0)
        assert depth >= 0
    return depth == 0 and text.count(r'\left') == text.count(r'\right')


@pytest.mark.parametrize('case', [*SHORT, 'rolling_disc', 'linkage'])
def test_latex(case):
    robot, _ = CASES[case]()
    equations = equations_of(case)
    text = equations.latex(digits=4)
    assert balanced(text)
    assert text.count(r'\begin{aligned}') == text.count(r'\end{aligned}') == 1
    body = text.split(r'\begin{aligned}')[1].split(r'\end{aligned}')[0]
    own_rates = sum(not rate.is_Symbol for rate in equations.coordinate_rate)
    rows = robot.nv + 2 * len(equations.labels) + own_rates
    assert body.count('&=') == rows
    assert body.count(r'\\') == rows - 1
    assert 'e-' not in body  # powers of ten are written as such
    for k in range(1, robot.nv + 1):
        assert rf'\dot v_{{{k}}}' in body
        assert rf'\tau_{{{k}}}' in body
    for k, label in enumerate(equations.labels, 1):
        assert rf'% \lambda_{{{k}}}: {label}' in text
    assert all(
        f'% q_{{{k}}}: {name}\n' in text for k, name in enumerate(robot.coordinate_names, 1)
    )


URDF = """
<robot name="rover">
  <link name="base"><inertial><origin xyz="0.12 0 0"/><mass value="9"/>
    <inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 -0.3"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="swing" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><origin xyz="0 0 0.5"/><dynamics damping="0.25" friction="0.125"/></joint>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / 'rover.urdf'
    path.write_text(URDF)
    return str(path)


class TestCommand:
    """The command ``kane-dynamics equations``."""

    def test_text(self, urdf, capsys):
        assert main(['equations', urdf, '--digits', '4']) == 0
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == 'equations of motion of rover'
        assert '0.28*vdot_swing' in printed[1]  # 0.1 + 2 0.3^2
        assert '5.886*sin(swing)' in printed[1]  # 2 9.81 0.3
        assert '0.25*v_swing' in printed[1]
        assert '0.125*sign(v_swing)' in printed[1]

    def test_no_side_slip(self, urdf, capsys):
        arguments = [
            'equations',
            urdf,
            '--root-joint',
            'planar',
            '--no-side-slip',
            '--lock',
            'swing',
        ]
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert 'constraint base/no_side_slip' in printed
        assert '-v_base_x*sin(base_yaw) + v_base_y*cos(base_yaw) = 0' in printed
        assert 'swing' not in printed

    def test_latex(self, urdf, capsys):
        assert main(['equations', urdf, '--format', 'latex']) == 0
        printed = capsys.readouterr().out
        assert r'\begin{aligned}' in printed
        assert r'0.28 \dot v_{1}' in printed

    def test_sympy(self, urdf, capsys):
        assert main(['equations', urdf, '--format', 'sympy', '--no-simplify']) == 0
        namespace = {}
        exec(capsys.readouterr().out, namespace)
        assert float(namespace['mass_matrix'][0]) == pytest.approx(0.28, rel=1e-14)

    @pytest.mark.parametrize(
        ('arguments', 'message'),
        [
            (['--no-side-slip'], 'error: no_side_slip needs a planar base'),
            (['--digits', '0'], 'error: digits: need a whole number from 1 to 17'),
            (['--lock', 'nose'], "'nose'"),
        ],
    )
    def test_errors(self, urdf, capsys, arguments, message):
        assert main(['equations', urdf, *arguments]) == 1
        printed = capsys.readouterr().err
        assert printed.startswith('error: ')
        assert message in printed
        assert len(printed.splitlines()) == 1

    def test_without_sympy(self, urdf, capsys, monkeypatch):
        monkeypatch.setitem(__import__('sys').modules, 'sympy', None)
        assert main(['equations', urdf]) == 1
        printed = capsys.readouterr().err
        assert "pip install 'kane_dynamics[symbolic]'" in printed

    def test_no_file(self, capsys):
        assert main(['equations', 'nowhere.urdf']) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_page_shows_the_equations_of_the_planar_arm(root):
    page = (root / 'doc' / 'symbolic.md').read_text()
    shown = page.partition('```text\n')[2].partition('```')[0]
    printed = equations_of_motion(planar_2r()).text(6)
    assert ' '.join(shown.split()) in ' '.join(printed.split())
