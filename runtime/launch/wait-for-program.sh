#!/bin/sh
# Runs a program and tells how the kernel says that it ended. bubblewrap does not: it ends with 128 + n for a program that signal n ended, and so
# does a shell. awk, which every POSIX system has, tells the two apart: its system() gives 256 + n for a signal.
# Descriptors: 0-4 the program's, 5 takes the status. Argument: the program's variables and command, as a shell and then env read them.
exec 7>&1
# Signals are for the program, which gets all of them as they are by default.
trap '' HUP INT QUIT TERM USR1 USR2 ALRM
program="exec /usr/bin/env --default-signal $1 >&7 5>&- 7>&-"
if command -v awk >/dev/null; then exec awk 'BEGIN { print "status", system(ARGV[1]) }' "$program" >&5; fi
/bin/sh -c "$program"
printf 'code %s\n' $? >&5
