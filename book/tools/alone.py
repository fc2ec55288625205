"""Run a command while no other process holds a file; wait for that, and hold it as long as the command runs.

python3 book/tools/alone.py FILE COMMAND...     any Python 3 will do, it is what makes .venv
"""

import os
import sys


def main(path, command):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    while True:
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            import fcntl

            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("waiting for the process that holds", path, "to end ...", flush=True)
                fcntl.flock(held, fcntl.LOCK_EX)
            same = os.path.exists(path) and os.path.samestat(os.fstat(held), os.stat(path))
        except (ImportError, OSError):  # a system or a disk without locks
            same = True
        if same:
            break
        os.close(held)
    os.set_inheritable(held, True)  # the lock ends with the last process that has it
    os.execvp(command[0], command)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except (KeyboardInterrupt, OSError) as error:
        sys.exit("error: " + str(error) if isinstance(error, OSError) else "stopped")
