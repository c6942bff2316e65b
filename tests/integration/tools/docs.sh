#!/usr/bin/env bash
# docs.sh HEAPPROF DOCS_FOLDER
#
# The man page and the completions, made from the help texts, hold every command and every option of them; the page
# renders without a warning in 80 columns; a real bash completes; zsh takes the file.
set -euo pipefail
heapprof=$1 docs=$2
for tool in man zsh; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*"
    exit 1
}
mapfile -t commands < <("$heapprof" help | sed -nE 's/^  ([a-z]+) +.*/\1/p' | grep -v '^heapprof$')
[ ${#commands[@]} -ge 7 ] || fail "few commands: ${commands[*]}"
options() { # COMMAND: its long options, as --help shows them
    "$heapprof" help "$1" | sed -nE 's/^  (-., |    )?--([a-z-]+).*/--\2/p'
}

# The page.
LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$docs/heapprof.1" >page 2>warnings || fail "man: $(cat warnings)"
[ ! -s warnings ] || fail "man warns: $(head -3 warnings)"
col -bx <page >text
grep -vE '^ {7,}heapprof ' text | LC_ALL=C.UTF-8 grep -E '^.{81}' && fail "the page is wider than 80 columns"

# bash: COMPREPLY, as readline would show it.
source "$docs/heapprof.bash"
complete_words() { # WORD... : the last one is completed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _heapprof 2>/dev/null || true
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}
expect() { # EXPECTED WORD...
    expected=$1
    shift
    [ "$(complete_words "$@")" = "$expected" ] || fail "bash: $*: $(complete_words "$@"), not $expected"
}

# zsh: the functions that a completion calls, as stand-ins that print what they were given.
zsh -n "$docs/_heapprof" || fail "zsh does not take the file"
cat >stand_in.zsh <<'END'
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- "${(@P)4}" }
words=(heapprof "$2" "") CURRENT=3
[[ -n $2 ]] || CURRENT=2
source "$1"
END

all=$(complete_words heapprof "")
zsh stand_in.zsh "$docs/_heapprof" "" >zsh_commands
checked=0
for command in "${commands[@]}"; do
    [[ " $all" == *" $command "* ]] || fail "bash does not offer $command"
    grep -q "^$command:" zsh_commands || fail "zsh does not offer $command"
    grep -qE "^ {3}heapprof $command$" text || fail "the page lacks $command"
    [ "$command" = help ] || "$heapprof" help "$command" | grep -q '^Example: ' || fail "$command has no example"
    sed -n "/^   heapprof $command\$/,/^   heapprof /p" text >section
    offered=" $(complete_words heapprof "$command" --) "
    zsh stand_in.zsh "$docs/_heapprof" "$command" >specifications
    for option in $(options "$command"); do
        [[ $offered == *" $option "* ]] || fail "bash does not offer $command $option"
        grep -qE -e "^(\([^)]*\))?$option=?\[" specifications || fail "zsh does not offer $command $option"
        grep -qE -e "^ {7}(-., )?$option( |$)" section || fail "the page lacks $command $option"
        checked=$((checked + 1))
    done
done
while read -r variable _; do
    grep -qE "^ {7}$variable( |$)" text || fail "the page lacks $variable"
done < <("$heapprof" help env | grep '^HEAPPROF')

mkdir folder
touch file.pb.gz "a b.pb.gz"
expect "top " heapprof to
expect "cum flat " heapprof top --sort ""
expect "flat " heapprof top -s f
expect "cum " heapprof top --sort = c
expect "cum flat " heapprof top --sort =
expect "--lines " heapprof top --li
expect "file.pb.gz " heapprof top fi
expect "a b.pb.gz " heapprof check --strict a
expect "file.pb.gz " heapprof merge -o out fi
expect "folder " heapprof run --dump-dir fo
expect "run " heapprof help ru
expect "env " heapprof help en
expect " " heapprof top -n ""
# A stand-in for the command: what is profiled here, is another's.
cat >listing <<'END'
#!/bin/sh
echo "    PID  SERVICE       BUILD ID      USAGE"
echo "   4711  edge_service  abfa29c5    9.2 MiB"
echo "   4712  edge...vice   abfa29c5    9.2 MiB"
END
chmod +x listing
expect "4711 4712 " ./listing status 47
expect "edge_service " ./listing capture e
[[ " $(complete_words heapprof run tru)" == *" true "* ]] || fail "bash does not offer programs to run"
[[ " $(complete_words heapprof run --limit = 1G -- tru)" == *" true "* ]] || fail "bash offers no program after --"
expect "file.pb.gz " heapprof run --limit 1G cat fi
expect "file.pb.gz " heapprof run -- cat fi
bash -c "source '$docs/heapprof.bash'; complete -p heapprof" | grep -q 'complete -F _heapprof heapprof' ||
    fail "bash does not register it"
echo "$checked options"
