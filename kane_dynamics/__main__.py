# SPDX-License-Identifier: Apache-2.0
"""``python -m kane_dynamics``: the same as the command ``kane-dynamics``."""

import importlib
import sys


def main() -> int:
    """Run the command line; say what to install where its packages are missing."""
    try:
        cli = importlib.import_module('kane_dynamics.cli')
    except ImportError as error:
        sys.stderr.write(f"{error}\nkane-dynamics needs: pip install 'kane_dynamics[cli]'\n")
        return 1
    code: int = cli.main()
    return code


if __name__ == '__main__':
    sys.exit(main())
