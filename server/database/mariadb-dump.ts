import { endOfRestoredFile, restoreExits, restoreScript } from '../contract/mariadb-restore.ts'
import { ReplicaCommandError } from '../runtime/runtime.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { DumpError } from './dump-database.ts'
import type { DumpSource } from './dump-source.ts'
import { DatabaseRestoreError } from './restore-database.ts'

/** Runs a command in the container of the service: standard input, and output. Reading throws `ReplicaCommandError` if it fails. */
export type RunInService = (command: string[], input: AsyncIterable<Uint8Array> | null, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** The names of the preset. Passwords are in the environment of the container, so that they are in no argument. */
const database = 'app'
const asApp = 'MYSQL_PWD="$MARIADB_PASSWORD"'
const dumpOptions = '--single-transaction --quick --skip-lock-tables --routines --triggers --events --hex-blob --no-tablespaces'

const shell = (script: string): string[] => ['bash', '-c', `set -eo pipefail; ${script}`]

const dumpCommand = shell(`${asApp} exec mariadb-dump --host=127.0.0.1 --user="$MARIADB_USER" ${dumpOptions} ${database}`)

/** Dumps of the managed MariaDB, with the programs in its container. */
export function createMariadbDumpSource(project_id: string, service: string, runInService: RunInService): DumpSource {
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

    /** The file is first loaded into a separate database, with the rights of the app's role. */
    async restore(sql, signal) {
      try {
        for await (const _ of runInService(['bash', '-c', restoreScript], withEnd(refuseOtherDatabases(sql)), signal));
      } catch (error) {
        if (!isCommandError(error)) throw error
        if (error.exit_code === restoreExits.incomplete)
          throw new DatabaseRestoreError('The file ends within a statement, a text or a comment. Send the whole file', error)
        if (error.exit_code !== null && error.exit_code > 128)
          throw new DatabaseUnavailableError(
            'MariaDB ended during the restore.',
            'The database has either all of the previous data or all of the data in the file. Check which, and restore again if it has the previous data.',
            error,
          )
        if (error.exit_code !== restoreExits.unfinished) throw new DatabaseRestoreError(explain(error), error)
        throw new DumpError(
          `The file is free of errors, but replacing the content was interrupted: ${explain(error)}. Restart the service to finish it. The previous data is in a dump`,
          error,
        )
      }
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

/** A script that outlives Homeport uses only a file that arrived completely. */
async function* withEnd(sql: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* sql
  yield Buffer.from(endOfRestoredFile)
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
