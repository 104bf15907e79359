"""Many boxes, one after another: each is a fork of the launcher in fresh namespaces.

A box reads the next `Run` by itself. The launcher never sees one: nothing of a run is ever in
the memory that later ones are forked from.
"""

from __future__ import annotations

import os

from sandboxes.launcher.box import Box, Tools
from sandboxes.launcher.messages import Failed, Ready
from sandboxes.launcher.namespaces import USERS_REMEDY, clone_box, enter_box, make_room
from sandboxes.launcher.warm import Program


def serve_boxes(tools: Tools, ready: Ready | None) -> Program | None:
    """Makes each box before it is asked for, until one ends otherwise than well.

    Args:
        tools: the launcher's.
        ready: for the host, once it is seen that boxes can be made.

    Returns:
        See `Box.serve`.
    """
    user = os.getuid(), os.getgid()
    try:
        while (pid := clone_box()) != 0:
            _, status = os.waitpid(pid, 0)
            if status != 0:
                return None
            ready = None
        enter_box(user)
    except OSError as error:
        tools.stream.send(Failed(f"no box can be made here: {error}", USERS_REMEDY))
        os._exit(1)
    if ready is not None:  # only the first can tell that boxes can be made
        tools.stream.send(ready)
    program = Box(tools, make_room).serve()
    if program is None:
        os._exit(0)
    return program


__all__ = ["serve_boxes"]
