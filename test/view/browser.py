# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens a page, reads its text, clicks, and takes pictures."""

import base64
import contextlib
import json
import shutil
import subprocess
import time
from itertools import count

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
PATIENCE = 120.0  # [s]; drawn without a GPU on a busy machine


def find_browser():
    """Return the path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Page:
    """A page that is driven by the DevTools protocol."""

    def __init__(self, socket):
        self._socket, self._numbers = socket, count(1)

    def call(self, method, **parameters):
        """Return the result of a DevTools method."""
        number = next(self._numbers)
        self._socket.send(json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            if answer.get('id') == number:
                assert 'error' not in answer, answer
                return answer['result']

    def evaluate(self, script):
        """Return the value of a JavaScript expression."""
        answer = self.call('Runtime.evaluate', expression=script, returnByValue=True)
        return answer['result'].get('value')

    def wait_for(self, script):
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.evaluate(script):
            assert time.monotonic() < end, f'not reached: {script}'
            time.sleep(0.2)

    def screenshot(self, path):
        """Write what is seen as PNG."""
        path.write_bytes(base64.b64decode(self.call('Page.captureScreenshot')['data']))


@contextlib.contextmanager
def opened(address, profile):
    """Yield a `Page` that shows an address."""
    from websockets.sync.client import connect

    # no GPU and no sandbox: containers have neither
    command = (
        find_browser(),
        '--headless=new',
        '--no-sandbox',
        '--use-angle=swiftshader',
        '--enable-unsafe-swiftshader',
        '--window-size=800,500',
        '--remote-debugging-port=0',
        f'--user-data-dir={profile}',
        'about:blank',
    )
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_address_of_tab(profile), max_size=None) as socket:
            page = Page(socket)
            page.call('Page.navigate', url=address)
            yield page
    finally:
        browser.terminate()
        browser.wait(PATIENCE)


def _address_of_tab(profile):
    """Return the websocket of the browser's first tab, once it listens."""
    from urllib.request import urlopen

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, StopIteration):
            port = int((profile / 'DevToolsActivePort').read_text().split()[0])
            with urlopen(f'http://127.0.0.1:{port}/json/list', timeout=5.0) as answer:
                tabs = json.load(answer)
            return next(t for t in tabs if t['type'] == 'page')['webSocketDebuggerUrl']
        time.sleep(0.1)
    raise AssertionError('the browser does not listen')
