# Sourced after verdicts.sh, with HP_TOOLS, a folder for what is built once.
# shellcheck shell=bash

# The pprof of golang-github-google-pprof-dev, built when it is first needed.
need_pprof() {
    needs go flock
    local sources=/usr/share/gocode
    [[ -d $sources/src/github.com/google/pprof ]] || skip "golang-github-google-pprof-dev is not installed"
    mkdir -p "$HP_TOOLS"
    [[ -x $HP_TOOLS/pprof ]] || (
        flock 9
        [[ -x $HP_TOOLS/pprof ]] ||
            GO111MODULE=off GOFLAGS='' GOPATH=$sources go build -o "$HP_TOOLS/pprof" github.com/google/pprof
    ) 9>"$HP_TOOLS/pprof.lock"
}
