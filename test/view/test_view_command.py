# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics view``: what it shows, and one line for each mistake."""

import pytest

from kane_dynamics import cli


def said(capsys):
    captured = capsys.readouterr()
    return ' '.join(captured.out.split()), ' '.join(captured.err.split())


def test_a_recording_is_shown_until_interrupted(drive, tmp_path, monkeypatch, capsys):
    pytest.importorskip('viser', reason='the extra "view" is not installed')
    from kane_dynamics.view.window import RecordingWindow

    path, shown = drive.save(tmp_path / 'drive.npz'), []

    def interrupted(window):
        window.tick(0.3)
        shown.append(window.time)
        raise KeyboardInterrupt

    monkeypatch.setattr(RecordingWindow, 'run', interrupted)
    assert cli.main(['view', str(path), '--port', '8611']) == 130
    assert shown == pytest.approx([0.3])
    assert 'open http://localhost:8611' in said(capsys)[0]


def test_what_cannot_be_drawn_is_told(tmp_path, monkeypatch, capsys):
    pytest.importorskip('viser', reason='the extra "view" is not installed')
    from kane_dynamics.view.window import PoseWindow

    text = '<robot name="r"><link name="l"><visual><geometry>{}</geometry></visual></link></robot>'
    path = tmp_path / 'r.urdf'
    path.write_text(text.format('<mesh filename="lost.stl"/>'))
    monkeypatch.setattr(PoseWindow, 'run', lambda window: None)
    assert cli.main(['view', str(path), '--port', '8611']) == 0
    assert "remark: link 'l': mesh 'lost.stl' is not a file" in said(capsys)[1]


@pytest.mark.parametrize(
    ('source', 'message'),
    [
        ('no.npz', "error: recording 'no.npz' cannot be read: "),
        ('no.urdf', "error: URDF file 'no.urdf' cannot be read: No such"),
        ('package://nobody/no.urdf', "error: URDF 'package://nobody/no.urdf' not found as any"),
    ],
)
def test_mistakes(source, message, capsys):
    assert cli.main(['view', source]) == 1
    assert message in said(capsys)[1]


def test_a_recording_becomes_an_animation(drive, tmp_path, capsys):
    path = drive.save(tmp_path / 'drive.npz')
    assert cli.main(['view', str(path), '--gif', str(tmp_path / 'drive.gif')]) == 0
    assert (tmp_path / 'drive.gif').read_bytes()[:3] == b'GIF'
    assert 'wrote ' in said(capsys)[0]
    assert cli.main(['view', 'robot.urdf', '--gif', 'robot.gif']) == 1
    assert "--gif: need a recording (.npz), got 'robot.urdf'" in said(capsys)[1]


def test_robots_and_recordings_become_pictures(drive, robots, tmp_path, capsys):
    path, target = drive.save(tmp_path / 'drive.npz'), tmp_path / 'picture.pdf'
    for source in (path, robots / 'nonholonomic.urdf'):
        assert cli.main(['view', str(source), '--picture', str(target), '--camera', 'side']) == 0
        assert target.read_bytes()[:5] == b'%PDF-'
        target.unlink()
        assert 'picture.pdf' in said(capsys)[0]
    assert cli.main(['view', str(path), '--picture', 'picture.jpg']) == 1
    assert "need a file that ends in .png or .pdf, got 'picture.jpg'" in said(capsys)[1]


def test_ports_that_are_none(capsys):
    with pytest.raises(SystemExit):
        cli.main(['view', 'robot.urdf', '--port', '70000'])
    assert 'need a port from 1 to 65535' in said(capsys)[1]
