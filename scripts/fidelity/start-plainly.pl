# Starts a program with its own pipes as standard streams, because a program cannot open a socket or a pipe of another account as
# /dev/stdout. Writes the wait status of the program to descriptor 3, because bubblewrap turns a signal into an exit code. Arguments: the
# command.
use strict;
use Errno;
use Fcntl;

delete @ENV{'PERL_BADLANG', 'PWD'};
open my $end, '>&=', 3 or die;
fcntl $end, F_SETFD, FD_CLOEXEC;

# Descriptors that the caller inherited do not belong to the program.
for my $inherited (4 .. 255) {
  my $descriptor;
  close $descriptor if open $descriptor, '<&=', $inherited;
}

sub copying {
  my ($from, $to, @others) = @_;
  my $child = fork // die;
  return $child if $child;
  close $_ for $end, @others;
  open STDIN, '<&', $from or die if fileno $from != 0;
  open STDOUT, '>&', $to or die if fileno $to != 1;
  exec '/bin/cat';
}

pipe my $stdin, my $to_stdin or die;
pipe my $from_stdout, my $stdout or die;
pipe my $from_stderr, my $stderr or die;
copying(\*STDIN, $to_stdin, $stdin, $from_stdout, $stdout, $from_stderr, $stderr);
my @readers = (
  copying($from_stdout, \*STDOUT, $stdin, $to_stdin, $stdout, $from_stderr, $stderr),
  copying($from_stderr, \*STDERR, $stdin, $to_stdin, $stdout, $from_stdout, $stderr),
);

my $program = fork // die;
if ($program == 0) {
  # The program leads a process group of its own, so that it may signal the whole group.
  setpgrp;
  open STDIN, '<&', $stdin or die;
  open STDOUT, '>&', $stdout or die;
  open STDERR, '>&', $stderr or die;
  exec { $ARGV[0] } @ARGV or exit 127;
}
close $_ for $stdin, $to_stdin, $from_stdout, $stdout, $from_stderr, $stderr;
waitpid $program, 0;
my $status = $?;

# Processes that the program leaves may still write, as in a pipeline. Processes that do not end are killed here.
$SIG{ALRM} = sub {
  opendir my $processes, '/proc' or die;
  my %kept = map { $_ => 1 } 1, $$, @readers;
  kill 'KILL', grep { /^\d+$/ && !$kept{$_} } readdir $processes;
};
alarm 2;
for my $reader (@readers) {
  1 while waitpid($reader, 0) < 0 && $!{EINTR};
}
print $end $status;
