/*
 * Scripts for the container of the managed MariaDB that replace the content of its database `app`. A restore that is interrupted anywhere leaves the
 * old or the new content: the new content is complete in `homeport_restore` before anything else changes, one RENAME TABLE statement moves its tables
 * together with the record of the restore, and each later step can be repeated. Meanwhile the account of the app is locked. The health check finishes
 * what the end of the container interrupted, before the service counts as started.
 */

/** The record of a restore that has to be finished: in `homeport_restore` before its tables were moved, in `app` afterwards. */
const state = 'homeport_restore_state'
/** The last statement of a file that arrived completely. */
const loaded = 'homeport_restore_loaded'
export const endOfRestoredFile = `\n;\nCREATE TABLE ${loaded} (complete INT);\n`

/** Exit codes. */
export const restoreExits = { incomplete: 64, unfinished: 65 } as const

/** Passwords are in the environment of the container, so that they are in no argument. The lock is for scripts that outlive Homeport. */
export const restoreFunctions = `
set -o pipefail
exec 9> /tmp/homeport-restore.lock && flock 9 || exit 1
sql() { MYSQL_PWD="$MARIADB_ROOT_PASSWORD" mariadb --user=root --sandbox --batch --skip-column-names --raw "$@"; }
definitions() { MYSQL_PWD="$MARIADB_ROOT_PASSWORD" mariadb-dump --user=root --skip-lock-tables --no-tablespaces --no-data "$@"; }
list() { sql --execute="SET SESSION group_concat_max_len = 1073741824; $1"; }
prepare() {
  sql --execute="DROP DATABASE IF EXISTS homeport_restore; CREATE DATABASE homeport_restore; GRANT ALL ON homeport_restore.* TO '$MARIADB_USER'@'%'"
}
load() { MYSQL_PWD="$MARIADB_PASSWORD" mariadb --sandbox --host=127.0.0.1 --user="$MARIADB_USER" homeport_restore; }
check_complete() { sql --execute='DROP TABLE homeport_restore.${loaded}'; }
lock() {
  sql --execute="ALTER USER '$MARIADB_USER'@'%' ACCOUNT LOCK" && { sql --execute="KILL USER '$MARIADB_USER'" || true; }
}
create_code() {
  definitions --no-create-info --routines --triggers --add-drop-trigger --events homeport_restore || return 1
  local names views
  names=$(list 'SELECT table_name FROM information_schema.views WHERE table_schema = "homeport_restore"') || return 1
  [ "$names" = '' ] && return 0
  mapfile -t views <<< "$names"
  definitions --skip-triggers homeport_restore "\${views[@]}"
}
save_code() {
  {
    printf "CREATE TABLE homeport_restore.draft_of_homeport (code LONGBLOB) ENGINE=InnoDB; INSERT INTO homeport_restore.draft_of_homeport VALUES (x'"
    create_code | od -An -v -tx1 | tr -d ' \\n' || exit 1
    printf "'); RENAME TABLE homeport_restore.draft_of_homeport TO homeport_restore.${state};"
  } | sql
}
drop_triggers() {
  list 'SELECT CONCAT("DROP TRIGGER homeport_restore.\`", REPLACE(trigger_name, "\`", "\`\`"), "\`;") FROM information_schema.triggers
    WHERE trigger_schema = "homeport_restore"' | sql
}
make_room() { sql --execute='DROP DATABASE IF EXISTS app; CREATE DATABASE app'; }
move_tables() {
  list 'SELECT CONCAT("RENAME TABLE ", GROUP_CONCAT("homeport_restore.\`", REPLACE(table_name, "\`", "\`\`"), "\` TO app.\`", REPLACE(table_name, "\`", "\`\`"), "\`"))
    FROM information_schema.tables WHERE table_schema = "homeport_restore" AND table_type <> "VIEW"' | sql
}
restore_code() { sql --execute='SELECT code FROM app.${state}' | sql app; }
clean() {
  sql --execute="DROP DATABASE IF EXISTS homeport_restore; DROP TABLE IF EXISTS app.${state};
    DELETE FROM mysql.db WHERE db = 'homeport_restore'; FLUSH PRIVILEGES; ALTER USER '$MARIADB_USER'@'%' ACCOUNT UNLOCK"
}
find_state() {
  sql --execute='SELECT table_schema FROM information_schema.tables WHERE table_name = "${state}" AND table_schema IN ("app", "homeport_restore")'
}
finish() {
  local at
  at=$(find_state) || return 1
  if [ "$at" = homeport_restore ]; then lock && drop_triggers && make_room && move_tables && at=app || return 1; fi
  if [ "$at" = app ]; then lock && restore_code || return 1; fi
  clean
}
`

/** Standard input is the file, then `endOfRestoredFile`. The app cannot change the saved definitions, because its account is locked before. */
export const restoreScript = `${restoreFunctions}
undo() { local code=$?; clean; exit "\${1:-$code}"; }
prepare && load || undo
check_complete || undo ${restoreExits.incomplete}
lock && save_code || undo
finish || exit ${restoreExits.unfinished}
`

/** During its first start the server accepts no TCP connections. */
export const mariadbHealthScript = `
app() { MYSQL_PWD="$MARIADB_PASSWORD" mariadb --host=127.0.0.1 --user="$MARIADB_USER" --skip-column-names --execute="$1" "$MARIADB_DATABASE"; }
left='SELECT COUNT(*) FROM information_schema.tables WHERE table_name = "${state}" UNION ALL SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = "homeport_restore"'
[ "$(app "$left" 2> /dev/null | tr -d '\\n')" = 00 ] && exit 0
mariadb-admin --host=127.0.0.1 --silent ping 2> /dev/null || { app 'SELECT 1'; exit; }
${restoreFunctions}
finish && app 'SELECT 1'
`
