import { ReplicaCommandError } from '../runtime/runtime.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { DumpError } from './dump-database.ts'
import type { DumpSource } from './dump-source.ts'
import { DatabaseRestoreError } from './restore-database.ts'

/** Runs a command in the container of the service: standard input, and output. Reading throws `ReplicaCommandError` if it fails. */
export type RunInService = (command: string[], input: AsyncIterable<Uint8Array> | null, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** The names of the preset. Passwords are in the environment of the container, so that they are in no argument. */
const database = 'app'
const scratch = 'homeport_restore'
const asApp = 'MYSQL_PWD="$MARIADB_PASSWORD"'
const asRoot = 'MYSQL_PWD="$MARIADB_ROOT_PASSWORD"'
const dumpOptions = '--single-transaction --quick --skip-lock-tables --routines --triggers --events --hex-blob --no-tablespaces'

const shell = (script: string): string[] => ['bash', '-c', `set -eo pipefail; ${script}`]

const dumpCommand = shell(`${asApp} exec mariadb-dump --host=127.0.0.1 --user="$MARIADB_USER" ${dumpOptions} ${database}`)

const prepareCommand = shell(
  `${asRoot} mariadb --user=root --execute="DROP DATABASE IF EXISTS ${scratch}; CREATE DATABASE ${scratch}; GRANT ALL ON ${scratch}.* TO '$MARIADB_USER'@'%'"`,
)
/** As the role of the app, and without commands of the client: the file has no more rights than the app. */
const loadCommand = shell(`${asApp} exec mariadb --sandbox --host=127.0.0.1 --user="$MARIADB_USER" ${scratch}`)

const endSessions = `${asRoot} mariadb --user=root --execute="KILL USER '$MARIADB_USER'" || true`
const replaceCommand = shell(
  [
    endSessions,
    `{ echo 'DROP DATABASE IF EXISTS ${database}; CREATE DATABASE ${database}; USE ${database};'; ${asRoot} mariadb-dump --user=root ${dumpOptions} ${scratch}; } | ${asRoot} mariadb --user=root`,
    endSessions,
  ].join('; '),
)
const dropScratchCommand = shell(`${asRoot} mariadb --user=root --execute="DROP DATABASE IF EXISTS ${scratch}"`)

/** Dumps of the managed MariaDB, by its own programs in its own container. */
export function createMariadbDumpSource(project_id: string, service: string, runInService: RunInService): DumpSource {
  const run = async (command: string[], input: AsyncIterable<Uint8Array> | null, signal: AbortSignal): Promise<void> => {
    for await (const _ of runInService(command, input, signal));
  }
  return {
    project_id,
    service,
    db_name: database,

    async *dump(signal) {
      try {
        yield* runInService(dumpCommand, null, signal)
      } catch (error) {
        throw isCommandError(error) ? new DumpError(`The dump could not be created: ${explain(error)}`, error) : error
      }
    },

    /** The file is loaded into a database beside first; only a file without errors replaces the content. */
    async restore(sql, signal) {
      try {
        await run(prepareCommand, null, signal)
        await run(loadCommand, refuseOtherDatabases(sql), signal)
      } catch (error) {
        await run(dropScratchCommand, null, signal).catch(() => {})
        throw isCommandError(error) ? new DatabaseRestoreError(explain(error), error) : error
      }
      try {
        await run(replaceCommand, null, signal)
      } catch (error) {
        throw isCommandError(error)
          ? new DumpError(`The file is free of errors, but replacing the content failed: ${explain(error)}. Restore the dump from before`, error)
          : error
      }
      await run(dropScratchCommand, null, signal)
    },

    async endSessions() {},
  }
}

const isCommandError = (error: unknown): error is ReplicaCommandError => {
  if (error instanceof ReplicaCommandError && error.exit_code === null)
    throw new DatabaseUnavailableError('MariaDB is not running.', 'Start the project, then try again.', error)
  return error instanceof ReplicaCommandError
}

/** The message of the program without its name. */
function explain({ message, exit_code }: ReplicaCommandError): string {
  const line = message.split('\n').findLast((one) => /error/i.test(one)) ?? message.split('\n').at(-1) ?? ''
  return line === '' ? `it exited with ${exit_code}` : line.replace(/^mariadb(-dump)?: /, '').replace(/^-{2,}\s*/, '')
}

/** A statement that selects another database would write to it at once. Inside values, line ends are escaped. */
async function* refuseOtherDatabases(sql: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let tail = '\n'
  for await (const chunk of sql) {
    const text = tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    if (/\n\s*(?:\/\*!\d*\s*)?(?:USE\s|CREATE\s+(?:DATABASE|SCHEMA)\b|DROP\s+(?:DATABASE|SCHEMA)\b)/i.test(text))
      throw new DatabaseRestoreError('The file selects or creates a database. Dump one database, without --databases')
    tail = text.slice(-200)
    yield chunk
  }
}
