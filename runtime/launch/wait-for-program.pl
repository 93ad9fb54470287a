# Runs a program and reports its wait status. bubblewrap hides it: bubblewrap ends with 128 + n when signal n ended the program.
# Descriptors: 0-4 belong to the program, 6 takes the wait status. Arguments: the program's variables and command, for env.
use strict;
use Config;

# The program runs as the same user. It must neither open the descriptors of this process nor read its memory.
my $PR_SET_DUMPABLE = 4;
my %prctl = (x86_64 => 157, aarch64 => 167);
my ($machine) = split(/-/, $Config{archname});
syscall($prctl{$machine}, $PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 or die "the process can be looked into: $!";

# Signals are for the program, so this process ignores them. The program starts with their default actions.
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM USR1 USR2 ALRM PIPE);
open(my $status, '>&=', 6) or die "descriptor 6: $!";
my $program = fork() // die "fork: $!";
if ($program == 0) {
    close($status);
    exec('/usr/bin/env', '--default-signal', @ARGV) or exit 127;
}
for my $descriptor (3, 4) {
    open(my $handle, '<&=', $descriptor) or next;
    close($handle);
}
close($_) for *STDIN, *STDOUT, *STDERR;
my $ended;
do { $ended = waitpid($program, 0) } until $ended == $program || ($ended == -1 && !$!{EINTR});
print $status "status $?\n";
