# SPDX-License-Identifier: Apache-2.0
"""
The two pictures of the README: a drive of TIAGo, and its tracking errors and efforts.

``python -m studies.pictures [--output doc/pictures]``. TIAGo's URDF and meshes are those of the
package example-robot-data (PAL Robotics, Apache-2.0).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from kane_dynamics.view.animation import write_picture
from kane_dynamics.view.plots import CYCLE, LIMIT, paper_style, save_figure
from studies.pictures.drive import Drive, Run

ROBOT = 'tiago'
SHOWN = (0.8, 11.5)  # what the picture shows of the drive [s]
INSTANTS, BETWEEN = 5, 20  # robots, and states from one to the next
LAWS = ('PD', 'PD + feed-forward')
FLOOR = 1e-5  # lower end of the axis of errors [rad]
COLOURS = 256  # of the small files


def main(arguments: list[str] | None = None) -> None:
    """Write both pictures and print the errors."""
    parser = argparse.ArgumentParser(description='pictures of the README')
    parser.add_argument('--output', type=Path, default=Path('doc/pictures'))
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    drive = Drive(ROBOT)
    times = np.linspace(*SHOWN, (INSTANTS - 1) * BETWEEN + 1)
    with tempfile.TemporaryDirectory() as place:
        raw = Path(place)
        write_picture(drive.recording(times), raw / 'drive.png', count=INSTANTS, width=6.0)
        runs = {name: drive.run(k == 1) for k, name in enumerate(LAWS)}
        save_figure(tracking_figure(drive, runs), raw / 'tracking.png', also=())
        for file in sorted(raw.glob('*.png')):
            small = _small(file, folder / file.name)
            print(f'wrote {small}, {small.stat().st_size / 1000:.0f} kB')
    for name, run in runs.items():
        rms = np.sqrt(np.mean(run.error**2))
        print(f'{name}: RMS error of all motors {rms:.2e} rad')


def tracking_figure(drive: Drive, runs: Mapping[str, Run]) -> Figure:
    """Return tracking errors of the arm on a log scale, beside its efforts with their limits."""
    arm = [k for k, name in enumerate(drive.motion.names) if name.startswith('arm_')]
    with paper_style():
        figure = Figure((7.2, 2.9), layout='constrained')
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
        for name, run in runs.items():
            largest = np.abs(run.error[:, arm]).max(axis=1)
            left.semilogy(run.time[1:], largest[1:], label=name)  # it begins without error
        left.set(
            xlabel='time [s]',
            ylabel='largest error of an arm joint [rad]',
            title='tracking error, same gains',
        )
        left.set_ylim(FLOOR, 1.0)
        for joint, colour in zip(arm[:4], CYCLE, strict=False):
            run = runs[LAWS[1]]
            name = drive.motion.names[joint].removesuffix('_joint').replace('_', ' ')
            right.plot(run.time, run.effort[:, joint], color=colour, label=name)
            for sign in (-1.0, 1.0):
                right.axhline(
                    sign * drive.limits[joint], color=colour, linestyle=':', linewidth=1.0
                )
        right.set(xlabel='time [s]', ylabel='effort [N m]', title='efforts with feed-forward')
        right.plot([], [], color=LIMIT, linestyle=':', linewidth=1.0, label='limits')
        for axes, columns in ((left, 2), (right, 5)):
            axes.set_xlim(0.0, runs[LAWS[0]].time[-1])
            axes.legend(
                loc='upper center', bbox_to_anchor=(0.5, -0.2), ncols=columns, columnspacing=1.0
            )
    return figure


def _small(source: Path, target: Path) -> Path:
    """Write a picture with few colours, in a small file."""
    with Image.open(source) as image:
        few = image.convert('RGB').quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(target, optimize=True, dpi=image.info['dpi'])
    return target


if __name__ == '__main__':
    main()
