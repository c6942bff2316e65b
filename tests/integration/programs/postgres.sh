#!/usr/bin/env bash
# PostgreSQL: a new cluster, a server with parallel workers, pgbench, queries whose answers are known; all processes
# preloaded.  postgres.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
folders=(/usr/lib/postgresql/*/bin)
[[ -x ${folders[-1]}/postgres ]] || skip "PostgreSQL is not installed"
PATH=${folders[-1]}:$PATH
needs setpriv pgbench
share_library
as=()
if [[ $EUID == 0 ]]; then # it refuses to run as root
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown 65534:65534 "$work"
fi
export PGHOST=$work PGUSER=tester PGDATABASE=postgres HOME=$work LC_ALL=C
with() { # command…
    "${as[@]}" env LD_PRELOAD="$HP_LIBRARY" "$@"
}
server=
# shellcheck disable=SC2317 # the trap calls it
end() {
    [[ -z $server ]] || kill -QUIT "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
with initdb -D "$work/data" -U tester -A trust --no-sync >"$work/log" 2>"$work/said" || fail "initdb: $(cat "$work/log" "$work/said")"
[[ $(<"$work/said") == '' ]] || fail "initdb said: $(<"$work/said")"
"${as[@]}" env LD_PRELOAD="$HP_LIBRARY" postgres -D "$work/data" -c listen_addresses= -c unix_socket_directories="$work" \
    -c fsync=off -c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 \
    -c parallel_tuple_cost=0 >"$work/log" 2>&1 &
server=$!
soon psql -c 'SELECT 1' || fail "the server does not come up: $(<"$work/log")"
grep -q libheapprof "/proc/$server/maps" || fail "heapprof is not in postgres"
with pgbench -i -s 1 -q >"$work/out" 2>&1 || fail "pgbench -i: $(<"$work/out")"
with pgbench -n -c 4 -j 2 -t "${POSTGRES_ROUNDS:-40}" >"$work/out" 2>&1 || fail "pgbench: $(<"$work/out")"
grep -q "number of failed transactions: 0 (0.000%)" "$work/out" || fail "pgbench: $(<"$work/out")"
with psql -X -q -A -t -v ON_ERROR_STOP=1 >"$work/out" 2>"$work/said" <<'END' || fail "psql: $(<"$work/said")"
SET client_min_messages = warning;
CREATE TABLE t AS SELECT i, md5(i::text) AS h, i % 97 AS g FROM generate_series(1, 30000) i;
CREATE INDEX ON t (h);
ANALYZE t;
SELECT count(*), sum(i), min(h), max(h) FROM t;
SELECT sum(n) FROM (SELECT g, count(*) AS n FROM t GROUP BY g) s;
SELECT count(*) FROM t a JOIN t b ON a.h = b.h WHERE a.i % 3 = 0;
SELECT string_agg(i::text, ',' ORDER BY h) FROM t WHERE i <= 10;
DO $$ BEGIN FOR k IN 1..200 LOOP BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$;
SELECT jsonb_array_length(jsonb_agg(h)) FROM t;
END
sums=$(sed -n 's/^30000|\([0-9]*\)|.*/\1/p' "$work/out")
[[ $sums == 450015000 ]] || fail "count and sum: $(<"$work/out")"
[[ $(sed -n 2,3p "$work/out") == $'30000\n10000' ]] || fail "group and join: $(<"$work/out")"
wanted=$(for i in {1..10}; do echo "$(printf %s "$i" | md5sum | cut -c1-32) $i"; done | sort | cut -d' ' -f2 | paste -sd,)
[[ $(sed -n 4p "$work/out") == "$wanted" ]] || fail "md5 order: $(<"$work/out")"
[[ $(sed -n 5p "$work/out") == 30000 && ! -s $work/said ]] || fail "the rest: $(cat "$work/out" "$work/said")"
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=
[[ $status == 0 ]] || fail "postgres ends with $status: $(tail -n 20 "$work/log")"
if grep -E 'PANIC|FATAL|WARNING|terminated by signal|heapprof' "$work/log" | grep -v 'starting up'; then fail "postgres complains"; fi
[[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "dumps: $(ls "$work/dumps")"
