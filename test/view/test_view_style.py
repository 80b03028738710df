# SPDX-License-Identifier: Apache-2.0
"""One style, left behind unchanged; files of 200 dots an inch; what the demo draws."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import kane_dynamics as kd
from kane_dynamics.demo import report
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.plots import (
    CYCLE,
    Panel,
    curves_figure,
    legend_beside,
    paper_style,
    save_figure,
)


def test_the_style_ends_where_it_was_asked_for():
    before = dict(matplotlib.rcParams)
    with paper_style():
        axes = Figure().subplots()
        drawn = [axes.plot([0.0, 1.0])[0] for _ in CYCLE]
    assert dict(matplotlib.rcParams) == before
    assert [line.get_color() for line in drawn] == list(CYCLE)
    assert drawn[0].get_linestyle() != drawn[1].get_linestyle()


def test_many_curves_are_told_apart_and_their_names_stand_beside_the_panel():
    with paper_style():
        figure = Figure((7.0, 2.6), layout='constrained')
        axes = figure.subplots()
        drawn = [axes.plot([0.0, 1.0], label=f'arm_{k}_joint')[0] for k in range(28)]
        legend_beside(axes)
        figure.draw_without_rendering()
    assert len({(line.get_color(), line.get_linestyle()) for line in drawn}) == 28
    assert figure.bbox.fully_containsx(axes.get_legend().get_window_extent().x1)
    assert axes.get_legend().get_window_extent().y0 > figure.bbox.y0


def test_a_figure_is_written_as_png_and_pdf_the_same_each_time(tmp_path):
    figure = Figure((2.0, 1.0))
    first = save_figure(figure, tmp_path / 'a.png')
    again = save_figure(figure, tmp_path / 'b.png')
    assert [path.suffix for path in first] == ['.png', '.pdf']
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    with Image.open(first[0]) as image:
        assert image.size == (400, 200)


@pytest.mark.parametrize('path', ['no/a.png', 'a.xyz'])
def test_where_no_figure_can_be_written(tmp_path, path):
    with pytest.raises(InvalidInputError, match='cannot be written'):
        save_figure(Figure(), tmp_path / path)


def demo_runs(robots, scale, forces):
    """Return a setup with three motors, and two runs whose efforts have the given size."""
    robot = kd.load_urdf(robots / 'nonholonomic.urdf', base='planar')
    names = ('wheel_left_joint', 'arm_1_joint', 'base_x')
    motion = SimpleNamespace(names=names, base=np.zeros((5, 3)))
    setup = SimpleNamespace(compiled=SimpleNamespace(robot=robot), motion=motion)
    t, rows = np.linspace(0.0, 1.0, 5), np.outer(np.arange(5.0), [1.0, -1.0, 2.0])
    limit = float(robot.effort_limit[robot.velocity_index(names[0])])
    names = ('time', 'error', 'effort', 'path', 'latency', 'forces')
    values = t, 1e-3 * rows, scale * limit * rows / 4.0, np.zeros((5, 2)), t, forces
    run = SimpleNamespace(**dict(zip(names, values, strict=True)))
    return setup, {'PD': run, 'both': run}


def test_a_limit_is_drawn_where_it_is_near_and_told_where_it_is_far(robots):
    near = report.effort_panels(*demo_runs(robots, 0.5, {}))
    far = report.effort_panels(*demo_runs(robots, 0.01, {}))
    assert [near[0].curves[name][0] for name in ('limit', '-limit')] == [
        30.0,
        -30.0,
    ]  # of the URDF
    assert len(far[0].curves) == 2 and 'limit 30 N m' in far[0].title
    assert near[2].label == 'effort [N]'  # the base slides along x
    assert len(near[2].curves) == 2  # it has no limit, and no line for one


def test_there_is_no_picture_of_what_is_not_there(robots, tmp_path):
    setup, runs = demo_runs(robots, 0.5, {})
    names = {path.stem for path in report.write_plots(tmp_path, setup, runs)}
    assert names == {'tracking_error', 'effort', 'latency'}
    setup, runs = demo_runs(robots, 0.5, {'rolling': np.zeros(5)})
    setup.motion.base[:, 0] = 1.0
    more = report.write_plots(tmp_path / 'more', setup, runs)
    assert {path.stem for path in more} - names == {'base_path', 'wheel_forces'}
    assert [panel.title for panel in report.error_panels(setup, runs)] == [*setup.motion.names]


def test_panels_in_columns_share_one_legend_and_none_is_empty():
    t = np.linspace(0.0, 1.0, 5)
    panels = [Panel('v [m/s]', {'PD': t + k, 'full': t}, title=str(k)) for k in range(4)]
    figure = curves_figure('all', t, panels, columns=3)
    assert [axes.get_title() for axes in figure.axes] == ['0', '1', '2', '3']
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ['PD', 'full']
    assert not any(axes.get_legend() for axes in figure.axes)
