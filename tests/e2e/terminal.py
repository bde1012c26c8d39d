#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""terminal.py COLUMNS ROWS COMMAND...: what the command shows on a terminal of that size; its exit status."""
import fcntl
import os
import pty
import struct
import sys
import termios

pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[2]), int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
shown = b""
try:
    while part := os.read(fd, 65536):
        shown += part
except OSError:  # the terminal's other end is closed
    pass
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
