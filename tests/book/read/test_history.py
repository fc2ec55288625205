"""Which commits a clone's history holds."""

import subprocess

import pytest

from book.tools.read import history


@pytest.fixture
def commits(tmp_path, monkeypatch):
    """A clone of three commits, the last of them amended: what it holds, first to last, and what it lost."""

    def git(*arguments):
        settings = ("-c", "user.name=a", "-c", "user.email=a@b")
        done = subprocess.run(["git", "-C", tmp_path / "clone", *settings, *arguments], capture_output=True, text=True)
        return done.stdout.strip()

    subprocess.run(["git", "init", "--quiet", tmp_path / "clone"], check=True)
    made = []
    for message in ("one", "two", "three"):
        git("commit", "--quiet", "--allow-empty", "--message", message)
        made.append(git("rev-parse", "HEAD"))
    git("commit", "--quiet", "--allow-empty", "--amend", "--message", "another")
    monkeypatch.setattr(history, "ROOT", tmp_path / "clone")
    return [*made[:2], git("rev-parse", "HEAD")], made[2]


def test_a_commit_that_was_amended_is_lost(commits):
    held, gone = commits
    assert history.unreachable_commits([*held, gone, 40 * "0"]) == {gone, 40 * "0"}
    assert history.unreachable_commits(held) == history.unreachable_commits([]) == set()
    held, _ = commits
    history.git("checkout", "--quiet", "--detach", held[1])
    assert history.unreachable_commits(held) == {held[2]}


def test_what_cannot_be_known_is_not_said_to_be_lost(commits, tmp_path, monkeypatch):
    _, gone = commits
    shallow = ["git", "clone", "--quiet", "--depth", "1", f"file://{tmp_path / 'clone'}", str(tmp_path / "shallow")]
    subprocess.run(shallow, check=True)
    monkeypatch.setattr(history, "ROOT", tmp_path / "shallow")
    assert history.unreachable_commits([gone]) == set()
    monkeypatch.setattr(history, "ROOT", tmp_path / "nowhere")
    assert history.unreachable_commits([gone]) == set()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert history.unreachable_commits([gone]) == set()
