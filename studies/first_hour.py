# SPDX-License-Identifier: Apache-2.0
"""
The first hour with robots from PyPI: `init --yes` and the demo, a row of Markdown for each.

`python -m studies.first_hour [FOLDER ...]` takes the URDFs of example-robot-data, pybullet_data
and stretch_urdf, where they are installed, and those below folders; mobile manipulators first.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FIRST = (
    *('SE3_eoa_wrist_dw3_tool_sg3.urdf', 'RE2V0_tool_stretch_dex_wrist', 'RE1V0_tool_stretch_g'),
    *('tiago_dual.urdf', 'tiago.urdf', 'tiago_no_hand', 'tiago_pro', 'pr2.urdf', 'husky/husky'),
    *('racecar/racecar.urdf', 'r2d2', 'ur5_robot', 'ur10_robot', 'ur3_robot', 'panda.urdf'),
    *('kuka_iiwa/model.urdf', '/kinova.urdf', 'xarm', '/z1.urdf', 'so_arm', 'so101', 'baxter'),
    *('franka_panda', 'sawyer', 'jaco', 'allegro', 'double_pendulum', 'asr_twodof', 'iiwa'),
    *('ur5_gripper', 'ur10e', 'ur3e', 'kuka', 'laikago', 'finger', 'hector', 'cartpole'),
)
MOST = 600.0  # of one command [s]


class Row(NamedTuple):
    """What happened to one robot."""

    robot: str
    seconds: float
    processor: float
    asked: str
    tracking: str
    missed: str
    outcome: str


def urdf_files(folders: list[Path]) -> list[Path]:
    """Return URDFs, one for each of `FIRST` that there is, in that order."""
    for package in ('pybullet_data', 'stretch_urdf'):
        spec = importlib.util.find_spec(package)
        places = spec.submodule_search_locations if spec else None
        folders += map(Path, places or ())
    folders += [Path(place) / 'cmeel.prefix/share/example-robot-data' for place in sys.path]
    every = [file for folder in folders if folder.is_dir() for file in folder.rglob('*.urdf')]
    chosen = [next((f for f in sorted(every) if part in str(f)), None) for part in FIRST]
    return list(dict.fromkeys(file for file in chosen if file is not None))


def rows(files: list[Path], duration: float, folder: Path) -> Iterator[Row]:
    """Yield the row of each robot."""
    for file in files:
        begin = time.monotonic(), _processor()
        config = folder / f'{file.stem}.yaml'
        init = _command('init', str(file), '--yes', '--force', '--output', str(config))
        asked = ', '.join(re.findall(r'^guessed: ([\w.]+: \w+)', init.stderr, re.MULTILINE))
        if init.returncode:
            yield Row(file.stem, *_since(*begin), asked, '', '', _reason('init', init))
            continue
        demo = _command(
            *('demo', str(config), '--output', str(folder)),
            *('--duration', str(duration)),
        )
        tracking, missed = (
            ' / '.join(_cells(demo.stdout, label))
            for label in ('times smaller than PD', 'missed deadlines')
        )
        good = demo.returncode in (0, 3)
        outcome = ('late' if demo.returncode else 'on time') if good else _reason('demo', demo)
        if weak := re.findall(r'too weak for any motion: ([\w, ]+)', demo.stdout):
            outcome += f'; too weak: {weak[0]}'
        yield Row(file.stem, *_since(*begin), asked, tracking, missed, outcome)


def _processor() -> float:
    """Return the processor time of all commands so far [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _since(begin: float, used: float) -> tuple[float, float]:
    return time.monotonic() - begin, _processor() - used


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, '-m', 'kane_dynamics', *arguments]
    try:
        return subprocess.run(line, capture_output=True, text=True, timeout=MOST, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, -1, '', f'error: not done after {MOST:g} s')


def _cells(table: str, label: str) -> list[str]:
    """Return the cells of a row of a printed table."""
    found = [line for line in table.splitlines() if label in line]
    return [cell.strip() for cell in found[0].split('│')[2:-1]] if found else []


def _reason(command: str, done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    said = [line for line in lines if 'error' in line.lower()] or lines[-1:]
    return f'{command}, exit {done.returncode}: {" ".join(said[-1:])[:400]}'


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folders', nargs='*', type=Path)
    parser.add_argument('--duration', type=float, default=12.0, help='of each run [s]')
    parser.add_argument('--skip', type=int, default=0, help='robots at the beginning')
    parser.add_argument('--count', type=int, default=30)
    chosen = parser.parse_args()
    files = urdf_files(chosen.folders)[chosen.skip :][: chosen.count]
    print(
        '| robot | time [s] | processor [s] | guessed | times smaller than PD | missed | outcome |'
    )
    print('|---|---:|---:|---|---|---|---|', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(files, chosen.duration, Path(folder)):
            cells = (row.robot, f'{row.seconds:.0f}', f'{row.processor:.0f}', *row[3:])
            print(f'| {" | ".join(cells)} |', flush=True)


if __name__ == '__main__':
    main()
