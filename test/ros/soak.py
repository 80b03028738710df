# SPDX-License-Identifier: Apache-2.0
"""
All nodes under faults, for minutes: ``make soak MINUTES=30 RATE=500``.

Each node is a process. States, odometry and ``/clock`` of the simulator pass through this one,
which spoils them by the list of `soak_faults`, gives commands to all nodes and spoils these too,
changes parameters and models, stops and kills nodes, and looks at all that they say.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from ros_bench import ROOT, Bench
from soak_faults import KILLS, rounds
from soak_loop import MINUTE, Soak
from soak_nodes import PEERS
from soak_report import result

RESULTS = Path('studies-results')


def run(soak, minutes, seconds):
    """Go through all faults again and again."""
    soak.wait_for_the_first_efforts()
    soak.settle()
    end = time.monotonic() + MINUTE * minutes
    for fault in rounds():
        soak.inject(fault, seconds)
        if fault.action in KILLS:
            soak.settle()  # who was started again has an empty heap
        sys.stderr.write(f'{time.monotonic() - end:8.1f} {fault.name}\n')
        if time.monotonic() > end or soak.dead():
            break
    soak.ages.close_minute()
    soak.bench.spin(1.5)  # a last report


def main(arguments=None):
    """Run the soak; return 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--rate', type=float, default=500.0, help='of the states [Hz]')
    about = 'of a fault, and after it; nodes say once a second what they have refused'
    parser.add_argument('--seconds', type=float, default=1.2, help=about)
    parser.add_argument('--loop', action='store_true', help='simulator and controller alone')
    parser.add_argument('--priority', type=int, default=0, help='of the nodes of efforts')
    parser.add_argument('--time', choices=('wall', 'simulated'), default='wall')
    chosen = parser.parse_args(arguments)
    files = [ROOT / 'config' / f'{name}.yaml' for name in ('nonholonomic', 'simulation')]
    common = {'compiled': 'wait', 'payloads': '[tool_link]'}
    simulator = {
        **common,
        'joint_state_rate': chosen.rate,
        'publish_tf': 'false',
        'clock_rate': 100.0,
    }
    simulated = chosen.time == 'simulated'
    simulator['publish_clock'] = str(simulated).lower()
    controller = {**common, 'use_sim_time': str(simulated).lower(), 'urdf_file': "''"}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        try:
            given = {'files': files, 'params': simulator}, {'files': files, 'params': controller}
            peers = () if chosen.loop else PEERS
            soak = Soak(bench, chosen.rate, *given, peers, simulated, chosen.priority)
            run(soak, chosen.minutes, chosen.seconds)
            found = soak.failures(counted=True)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            bench.close()
    path = RESULTS / f'soak_{"loop" if chosen.loop else format(chosen.rate, "g")}.json'
    path.parent.mkdir(exist_ok=True)
    report = {
        'minutes': chosen.minutes,
        'time': chosen.time,
        'priority': chosen.priority,
        'loop': chosen.loop,
        **result(soak, found),
    }
    path.write_text(json.dumps(report, indent=1) + '\n')
    sys.stdout.write(f'{soak.table()}\n' + (f'FAILED: {found}\n' if found else 'ok\n'))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
