# SPDX-License-Identifier: Apache-2.0
"""From what a URDF shows to the parameter file of the nodes: questions, gains, the file."""

from kane_dynamics.robot_config.setup.file_text import Tuning, file_text, proposed_tuning
from kane_dynamics.robot_config.setup.questions import Answer, Ask, Question
from kane_dynamics.robot_config.setup.settings import Setting, settle

__all__ = [
    'Answer',
    'Ask',
    'Question',
    'Setting',
    'Tuning',
    'file_text',
    'proposed_tuning',
    'settle',
]
