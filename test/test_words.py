# SPDX-License-Identifier: Apache-2.0
"""Words of a private dialect stay out: names are terms of the field (doc/glossary.md)."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = sorted((ROOT / 'kane_dynamics').rglob('*.py'))
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'doc').rglob('*.md'))]

# Participles alone, and household nouns: no identifier.
IDENTIFIERS = set(
    """
    found given chosen taken wanted carried own rest places aim outside aside door looks stance
    light card health healthy pace reserve admission headrooms remark remarks promoted adrift
    loose fighting skidding rubbing came brief stage staged
    """.split()
)
# Names that were replaced; they appear nowhere, neither in code nor on pages.
NAMES = set(
    """
    Aside at_the_door Looks Outside kane_together Pacer LoopAccount WarmUp ModelHost
    DrivenBaseNode MovedBaseParameters InputGuard GuardReport SwitchedSet taken_rows
    least_constraint base_stance contact_picture ContactPicture CompiledRobot CudaRobot
    defined_speeds frame_drift frame_drifts Headrooms EffortRise limit_rise PaceInput PacedTime
    with_agreement agreeing_reference agreeing_speeds centred_steering FrameLaw FrameReach
    RowBalance StrongerBalance carried_sizes lacks_digits HEALTH_LIMIT or_healthier most_alive
    light_q CardRun CardKernels CardTerms clamped_since follow_or_hold PlannedArm TwistPlan
    BaseForecast on_stale without_target command_timeout wrench_timeout motion_from gravity_from
    end_with_process left_out task_sliding_gains torque_scale clamp_to_urdf wheel_friction
    merge_joint_states residual_warn
    """.split()
)
# Phrases of pages that name no technical thing.
PHRASES = (
    'where down is',
    'that others drive',
    'is not sure of',
    'can say nothing',
    'what ends a mode',
    'at the door',
    'takes velocities',
)


def identifiers(path):
    """Yield line and name of each identifier, also inside f-strings."""
    text = path.read_text(encoding='utf-8')
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string
        elif token.type == tokenize.STRING and 'f' in re.match(r'\w*', token.string)[0].lower():
            for expression in re.findall(r'(?<!\{)\{([^{}]+)\}', token.string):
                for name in re.findall(r'[A-Za-z_]\w*', re.sub(r'\'[^\']*\'', '', expression)):
                    yield token.start[0], name


def test_identifiers_are_terms_of_the_field():
    used = [
        f'{path.relative_to(ROOT)}:{line}: {name}'
        for path in CODE
        for line, name in identifiers(path)
        if name in IDENTIFIERS
    ]
    assert used == []


@pytest.mark.parametrize('path', [*CODE, *PAGES], ids=lambda p: str(p.relative_to(ROOT)))
def test_replaced_names_do_not_return(path):
    words = set(re.findall(r'\w+', path.read_text(encoding='utf-8')))
    assert words & NAMES == set()


def test_pages_and_docstrings_use_no_private_phrases():
    used = [
        f'{path.relative_to(ROOT)}: {phrase}'
        for path in [*CODE, *PAGES]
        for phrase in PHRASES
        if phrase in ' '.join(path.read_text(encoding='utf-8').split()).lower()
    ]
    assert used == []
