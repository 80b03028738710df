# SPDX-License-Identifier: Apache-2.0
"""The window in headless Chromium: what a person sees and clicks."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('viser', reason='the extra "view" is not installed')
sys.path.insert(0, str(Path(__file__).parent))

from browser import find_browser, opened

from kane_dynamics.view.window import RecordingWindow, start_server

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason='no Chromium on this machine (Debian: apt install chromium)'
)


SHOWN = 0.005


def scene_of(path):
    from PIL import Image

    # without panels at both sides
    return np.asarray(Image.open(path).convert('RGB'), dtype=int)[:, 300:470]


def dark_part(path):
    """Return which part of the scene is dark grey, as the base of the robot is."""
    return (scene_of(path).max(axis=-1) < 110).mean()


def test_a_recording_plays_in_a_browser(drive, tmp_path):
    server = start_server(port=8411)
    try:
        window = RecordingWindow(server, drive)
        window.playing = False
        window.show(0.1)
        with opened(f'http://localhost:{server.get_port()}', tmp_path / 'profile') as page:
            page.wait_for("document.body.innerText.includes('wheel_left_joint/rolling')")
            page.wait_for("document.querySelector('canvas') !== null")
            text = page.evaluate('document.body.innerText')
            assert 'holds' in text and '20 N' in text and 'Next event' in text
            window.show(0.3)
            page.wait_for("document.body.innerText.includes('slips')")
            picture = tmp_path / 'window.png'
            for _ in range(20):  # the page fades in
                time.sleep(1.5)
                page.screenshot(picture)
                if dark_part(picture) > SHOWN:
                    break
            page.evaluate(
                "[...document.querySelectorAll('button')]"
                ".find(b => b.innerText === 'Next event').click()"
            )
            page.wait_for("document.body.innerText.includes('left sticks')")
    finally:
        server.stop()
    assert SHOWN < dark_part(picture) < 0.5
    scene = scene_of(picture)
    blue = (scene[..., 2] > scene[..., 0] + 60).mean()
    assert blue > 1e-4, blue
    orange = (scene[..., 0] > scene[..., 2] + 60).mean()  # the arm, and the wheel that slips
    assert orange > 1e-3, orange
