#!/usr/bin/env bash
# perl: regular expressions, hashes, closures, sorting, processes and pipes, signals, ithreads, die and eval.
# perl.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs perl
cat >"$work/work.pl" <<'END'
use strict; use warnings; use threads; use POSIX ();
$| = 1;
my (%seen, @list);
for my $i (1 .. 20000) { my $key = "k" . ($i * 7919 % 4001); $seen{$key} .= chr(65 + $i % 26); push @list, $key if $i % 7 == 0; }
print scalar(keys %seen), " ", join(",", (sort { $seen{$a} cmp $seen{$b} || $a cmp $b } keys %seen)[0 .. 9]), "\n";
my $text = join " ", @list; my $hits = 0;
$hits++ while $text =~ /k(\d)(\d*)\s(?=k\1)/g;
(my $changed = $text) =~ s/(k)(\d+)/$2 . uc $1/ge;
print "$hits ", length $changed, " ", substr($changed, 0, 60), "\n";
my @closures = map { my $n = $_; sub { $n += shift } } 1 .. 500;
my $sum = 0; $sum += $_->(3) for @closures; print "$sum\n";
for my $n (1 .. 20) {
    my $pid = fork // die; if (!$pid) { my @x = map { "x" x $_ } 1 .. 100; POSIX::_exit(@x % 7 + $n % 3) }
    waitpid $pid, 0; print $? >> 8, " ";
}
print "\n", join("|", map { my $out = `echo $_; exit $_`; chomp $out; "$out:" . ($? >> 8) } 1 .. 8), "\n";
open my $pipe, "-|", "seq 1 500 | sort -rn" or die; my @rows = <$pipe>; close $pipe; print scalar(@rows), " $rows[0]";
my $caught = 0; $SIG{USR1} = sub { $caught++; my @y = (1) x 1000 }; kill USR1 => $$ for 1 .. 5; print "caught ", $caught > 0, "\n";
my @threads = map { my $n = $_; threads->create(sub { my %h = map { $_ => "v$_" } 1 .. 500 * $n; scalar keys %h }) } 1 .. 4;
print join(",", map { $_->join } @threads), "\n";
eval { die { code => 42 } }; print "died with $@->{code}\n";
warn "to stderr\n";
exit 6;
END
same perl "$work/work.pl"
same perl -e 'my @a; push @a, [1 .. 10] for 1 .. 3000; print scalar(@a); die "in the end\n"'
