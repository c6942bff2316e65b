#!/usr/bin/env bash
# sqlite3: a schema with indexes and triggers, joins, recursion, window functions, JSON, full text, vacuum, on disk and
# in memory.  sqlite.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs sqlite3
cat >"$work/work.sql" <<'END'
PRAGMA journal_mode = wal;
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, tags TEXT);
CREATE TABLE log (what TEXT, id INTEGER);
CREATE INDEX item_name ON item (name, price);
CREATE TRIGGER logged AFTER UPDATE ON item BEGIN INSERT INTO log VALUES ('update', new.id); END;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
INSERT INTO item SELECT i, printf('item %05d', (i * 7919) % 8009), (i * 31) % 977 / 7.0, json_array(i, 'x' || i % 9) FROM n;
UPDATE item SET price = price * 2 WHERE id % 10 = 3;
DELETE FROM item WHERE id % 17 = 5;
SELECT count(*), round(sum(price), 3), max(name) FROM item;
SELECT json_extract(tags, '$[1]') AS tag, count(*), round(avg(price), 4) FROM item GROUP BY tag ORDER BY tag;
SELECT a.id, b.id FROM item a JOIN item b ON b.name = a.name || '' AND b.id <> a.id + 1 ORDER BY a.price DESC, a.id LIMIT 20;
SELECT id, rank() OVER (PARTITION BY id % 5 ORDER BY price DESC, id) AS r FROM item ORDER BY r, id LIMIT 20;
CREATE VIRTUAL TABLE words USING fts5 (body);
INSERT INTO words SELECT name || ' ' || tags FROM item;
SELECT count(*) FROM words WHERE words MATCH 'item AND x3';
SELECT group_concat(name, ',') FROM (SELECT name FROM item ORDER BY name LIMIT 300);
SELECT hex(sum(length(randomblob(1000)))) FROM item;
BEGIN; DROP TABLE log; ROLLBACK;
SELECT count(*) FROM log;
VACUUM;
PRAGMA integrity_check;
SELECT no_such_function(1);
END
same sqlite3 :memory: ".read $work/work.sql"
same bash -c 'rm -f "$1"/db*; sqlite3 "$1/db" ".read $1/work.sql"; sqlite3 "$1/db" .dump | cksum' - "$work"
