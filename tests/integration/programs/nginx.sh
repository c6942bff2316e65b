#!/usr/bin/env bash
# nginx: a master and three workers under load from eight threads, compressing, reloaded twice meanwhile; every answer
# is right, none is lost, and it ends as asked. In the foreground, and as a daemon.  nginx.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
: "${python:?}"
PATH=$PATH:/usr/sbin
needs nginx python3
mkdir "$work/www" "$work/logs"
chmod 755 "$work" "$work/www"
seq 1 20000 >"$work/www/numbers.txt"
socket=$work/socket
configuration() { # daemon
    cat <<END
daemon $1;
user root;
worker_processes 3;
pid $work/pid;
error_log $work/logs/error.log notice;
events { worker_connections 64; }
http {
    access_log $work/logs/access.log;
    client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
    uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
    types { text/plain txt; }
    gzip on; gzip_types text/plain;
    server {
        listen unix:$socket;
        root $work/www;
        location /echo { return 200 "\$request_uri \$arg_x\n"; }
        location /proxy/ { proxy_pass http://unix:$socket:/; }
    }
}
END
}
cat >"$work/load.py" <<'END'
import gzip, http.client, socket, sys, threading
path, wanted, rounds = sys.argv[1], open(sys.argv[2], "rb").read(), int(sys.argv[3])
class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(path)
bad = []
def ask(url, headers={}):
    connection = Connection("localhost")
    connection.request("GET", url, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers.get("Content-Encoding"), answer.read()
def load(me):
    for i in range(rounds):
        if ask(f"/echo?x={me}-{i}") != (200, None, f"/echo?x={me}-{i} {me}-{i}\n".encode()):
            bad.append("echo")
        status, coding, body = ask("/proxy/numbers.txt" if i % 2 else "/numbers.txt", {"Accept-Encoding": "gzip"})
        if status != 200 or (gzip.decompress(body) if coding == "gzip" else body) != wanted:
            bad.append((status, coding, len(body)))
        if ask("/none")[0] != 404:
            bad.append("none")
threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
sys.exit(f"{len(bad)} bad answers: {bad[:3]}" if bad else 0)
END

master=
# shellcheck disable=SC2317 # the trap calls it
end() {
    [[ -z $master ]] || kill -KILL "$master" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
for daemon in off on; do
    configuration "$daemon" >"$work/nginx.conf"
    preloaded nginx -t -q -e "$work/logs/error.log" -c "$work/nginx.conf" || fail "nginx -t"
    LD_PRELOAD=$HP_LIBRARY nginx -e "$work/logs/error.log" -c "$work/nginx.conf" >"$work/out" 2>"$work/said" &
    started=$!
    soon test -s "$work/pid" || fail "nginx does not come up: $(cat "$work/logs/error.log" "$work/said")"
    master=$(<"$work/pid")
    [[ $daemon == on ]] || [[ $master == "$started" ]] || fail "the master is $master, not $started"
    grep -q libheapprof "/proc/$master/maps" || fail "heapprof is not in nginx"
    soon test -S "$socket" || fail "nginx does not listen"
    "$python" "$work/load.py" "$socket" "$work/www/numbers.txt" "${NGINX_ROUNDS:-6}" >"$work/load" 2>&1 &
    load=$!
    for _ in 1 2; do
        sleep 0.3
        kill -HUP "$master"
        sleep 0.3
        kill -USR1 "$master" # opens its logs anew
    done
    wait "$load" || fail "under load: $(<"$work/load")"
    if [[ $daemon == on ]]; then
        wait "$started" || fail "the process that daemonised ends with $?"
        kill -TERM "$master"
    else
        kill -QUIT "$master"
        wait "$started" || fail "nginx ends with $?"
    fi
    gone() { [[ ! -e $work/pid ]] && ! kill -0 "$master" 2>/dev/null; }
    soon gone || fail "nginx does not end"
    master=
    [[ ! -s $work/out && ! -s $work/said ]] || fail "said: $(cat "$work/out" "$work/said")"
    if grep -E '\[(warn|error|crit|alert|emerg)\]|exited on signal' "$work/logs/error.log" | grep -v 'none" failed'; then
        fail "nginx complains"
    fi
    [[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "dumps: $(ls "$work/dumps")"
    rm -f "$work/logs/"*.log
done
