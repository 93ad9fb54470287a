# Runs a program and reports its wait status. bubblewrap hides it: bubblewrap ends with 128 + n when signal n ended the program.
# Until the program begins, this process also replaces the waiting interpreter on request: a new one in a new namespace would take twice as
# long.
# Descriptors: 0-4 belong to the program, 6 takes the wait status, 7 gives requests: a number of words, then the words of the interpreter,
# each with a NUL at its end. The number 0 means that the program begins.
# Arguments: the number of words before every interpreter, these words, then the interpreter's variables and command, for env.
use strict;
use Config;

# The program runs as the same user. It must neither open the descriptors of this process nor read its memory.
my $PR_SET_DUMPABLE = 4;
my %prctl = (x86_64 => 157, aarch64 => 167);
my ($machine) = split(/-/, $Config{archname});
syscall($prctl{$machine}, $PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 or die "the process stays readable for the program: $!";

# Signals are for the program, so this process ignores them. The program starts with their default actions.
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM USR1 USR2 ALRM PIPE);
# An interpreter that ends early interrupts the wait for requests.
$SIG{CHLD} = sub { };
my $WNOHANG = 1;
open(my $status, '>&=', 6) or die "descriptor 6: $!";
open(my $requests, '<&=', 7) or die "descriptor 7: $!";
my @always = splice(@ARGV, 0, shift);

sub start {
    my $child = fork() // die "fork: $!";
    return $child if $child;
    close($_) for $status, $requests;
    exec('/usr/bin/env', '--default-signal', @always, @_) or exit 127;
}

my $program = start(@ARGV);
my $ended = 0;

# The words of the next interpreter; empty when the program begins, or when the interpreter has ended.
sub requested {
    my $wanted = '';
    vec($wanted, fileno($requests), 1) = 1;
    # The signal of an end may arrive just before the wait, so each wait is short.
    until (select(my $ready = $wanted, undef, undef, 1) > 0) {
        $ended = waitpid($program, $WNOHANG);
        return if $ended;
    }
    local $/ = "\0";
    chomp(my $count = <$requests> // 0);
    return map { chomp(my $word = <$requests> // ''); $word } 1 .. $count;
}

while (my @words = requested()) {
    kill('KILL', $program);
    # A killed interpreter that has not run since would still read the message to the next one, which has the same pipes.
    waitpid($program, 0);
    $program = start(@words);
}
for my $descriptor (3, 4, fileno($requests)) {
    open(my $handle, '<&=', $descriptor) or next;
    close($handle);
}
close($_) for *STDIN, *STDOUT, *STDERR;
until ($ended == $program || ($ended == -1 && !$!{EINTR})) { $ended = waitpid($program, 0) }
print $status "status $?\n";
