import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Database, DatabaseDump } from '../contract/databases.ts'
import { dumpedServices, isPresetName } from '../contract/service-presets.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, unknownSubcommand, requirePositionals } from './command.ts'
import { queryDatabase } from './db-query.ts'
import { formatRelativeTime, formatBytes, formatTable } from './terminal.ts'

/** The first database starts a database server; a large dump or restore can take hours. */
const databaseTimeout_ms = 6 * 3_600_000

export const db: CliCommand = {
  summary: 'Creates, shows, dumps, restores, upgrades and drops the PostgreSQL database of a project.',
  usage: [
    'db [show] SLUG',
    'db create SLUG',
    'db url SLUG',
    'db psql SLUG [-- ARGUMENT ...]',
    'db query SLUG SQL [--write] [--csv] [--rows 1000] [--branch NAME]',
    'db dump SLUG [FILE] [--name NAME] [--service mariadb]',
    'db dumps [SLUG] [--service mariadb]',
    'db delete-dump ID',
    'db restore SLUG FILE|ID [--service mariadb]',
    'db upgrade SLUG [--finish|--revert]',
    'db drop SLUG --yes',
  ],
  options: {
    service: '=NAME dump, dumps, restore: a managed service instead of PostgreSQL',
    name: '=NAME dump: a name for the dump',
    write: 'query: allow changes; a small database is dumped before a destructive statement',
    csv: 'query: print CSV',
    rows: '=NUMBER query: the most rows, up to 100000',
    branch: '=NAME query: the database of this preview',
    yes: 'drop: confirm',
    finish: 'upgrade: delete the data from before the upgrade',
    revert: 'upgrade: restore the data from before the upgrade',
  },
  details:
    'The app gets the connection string as DATABASE_URL. dump writes gzipped SQL, or plain SQL if FILE ends in .sql; without FILE the\ndump stays on the instance. dumps without SLUG lists those of all projects, including deleted ones; it and delete-dump are for the owner of the instance. restore reads both, and the output of pg_dump. restore and drop first dump the current data. upgrade moves the data to the current version of\nPostgreSQL, and keeps the old data too.',
  async run(context) {
    const [subcommand = ''] = context.positionals
    if (Object.hasOwn(subcommands, subcommand) && context.positionals.length > 1) return subcommands[subcommand as keyof typeof subcommands](context)
    if (context.positionals.length === 1 && subcommand === 'dumps') return listEveryDump(context)
    if (context.positionals.length === 1) return show({ ...context, positionals: ['show', subcommand] })
    throw subcommand === '' ? new UsageError('SLUG is missing.') : unknownSubcommand(subcommand, Object.keys(subcommands))
  },
}

/** The managed service that a command refers to; undefined for PostgreSQL. */
function readService(context: CommandContext): (typeof dumpedServices)[number] | undefined {
  const name = stringFlag(context.flags, 'service')
  const known = dumpedServices.find((one) => one === name)
  if (name === undefined || known) return known
  const advice = isPresetName(name)
    ? `Take a snapshot of its volume instead: homeport volumes snapshot SLUG managed-${name}`
    : `Use ${dumpedServices.join(' or ')}.`
  throw new UsageError(`“${name}” has no SQL dumps. ${advice}`)
}

const subcommands = { show, create, url, psql, query: queryDatabase, dump, dumps, 'delete-dump': deleteDump, restore, upgrade, drop }

const fetchDatabase = async (context: CommandContext, slug: string): Promise<Database> =>
  (await context.connect().call('getDatabase', { params: { slug } })).database

async function show(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'show', 'SLUG')
  const database = await fetchDatabase(context, slug)
  if (context.is_json) context.terminal.out(JSON.stringify({ database }))
  else {
    const { db_name, host, port, engine_version, size_bytes, created_at } = database
    context.terminal.out(
      `${db_name} at ${host}:${port}, PostgreSQL ${engine_version}, ${formatBytes(size_bytes)}, created ${formatRelativeTime(created_at, context.clock.now())}`,
    )
    context.terminal.out(`Connection string, including the password: homeport db url ${slug}`)
  }
  return exitCodes.success
}

async function create(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'create', 'SLUG')
  const response = await context.connect().call('createDatabase', { params: { slug } }, databaseTimeout_ms)
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(`Created the database ${response.database.db_name} for ${slug}. The app gets it as DATABASE_URL.`)
    if (response.deployment_id !== null) context.terminal.out(`Redeploying the project: ${response.deployment_id}`)
  }
  return exitCodes.success
}

async function url(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'url', 'SLUG')
  const { connection_string } = await fetchDatabase(context, slug)
  context.terminal.out(context.is_json ? JSON.stringify({ connection_string }) : connection_string)
  return exitCodes.success
}

/** The password is passed in the environment, because every user of this machine can read arguments. */
async function psql(context: CommandContext): Promise<number> {
  const [, slug = '', ...psqlArgs] = context.positionals
  const { host, port, db_user, db_name, password } = await fetchDatabase(context, slug)
  const args = ['--host', host, '--port', String(port), '--username', db_user, '--dbname', db_name, ...psqlArgs]
  const code = await context.runProgram('psql', args, { PGPASSWORD: password })
  if (code === undefined)
    throw new Error(
      `psql is not installed on this machine. Install the PostgreSQL client, or use another client with the output of: homeport db url ${slug}`,
    )
  return code
}

async function dump(context: CommandContext): Promise<number> {
  const [, slug = '', name] = requirePositionals(context, 'dump', 'SLUG', '[FILE]')
  const service = readService(context)
  const client = context.connect()
  const created = (
    await client.call('dumpDatabase', { params: { slug }, query: { service, name: stringFlag(context.flags, 'name') } }, databaseTimeout_ms)
  ).dump
  const path = name === undefined ? undefined : resolve(context.cwd, name)
  if (path !== undefined) {
    const file = Readable.from(await client.download('downloadDatabaseDump', { params: { slug, id: created.id } }, context.signal))
    const target = createWriteStream(`${path}.part`, { mode: 0o600, flags: 'wx' })
    try {
      if (/\.gz$/i.test(path)) await pipeline(file, target)
      else await pipeline(file, createGunzip(), target)
    } catch (error) {
      await rm(`${path}.part`, { force: true })
      throw error
    }
    await rename(`${path}.part`, path)
    // FILE is the only copy the user asked for. Deleting the other one fails for everyone but the owner of the instance.
    await client.call('deleteDatabaseDump', { params: { id: created.id } }).catch(() => {})
  }
  if (context.is_json) context.terminal.out(JSON.stringify({ dump: path === undefined ? created : { ...created, path } }))
  else if (path === undefined)
    context.terminal.out(`Dumped ${slug} to dumps/${created.file} in the data folder of the instance (${formatBytes(created.bytes)}).`)
  else context.terminal.out(`Dumped ${slug} to ${path} (${formatBytes((await stat(path)).size)}).`)
  return exitCodes.success
}

async function dumps(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'dumps', 'SLUG')
  const response = await context.connect().call('listDatabaseDumps', { params: { slug }, query: { service: readService(context) } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.dumps.length === 0) context.terminal.out(`No dumps yet. Create one with: homeport db dump ${slug}`)
  else printDumps(context, ['ID'], response.dumps, ({ id }) => [id])
  return exitCodes.success
}

async function listEveryDump(context: CommandContext): Promise<number> {
  const response = await context.connect().call('listEveryDatabaseDump', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.dumps.length === 0) context.terminal.out('No dumps yet. Create one with: homeport db dump SLUG')
  else printDumps(context, ['ID', 'PROJECT', 'DATABASE'], response.dumps, (one) => [one.id, one.project_slug, one.service ?? 'postgres'])
  return exitCodes.success
}

const reasonLabels = { manual: 'manual', drop: 'before a drop', restore: 'before a restore', query: 'before a statement' }

function printDumps({ terminal, clock }: CommandContext, head: string[], list: DatabaseDump[], describe: (dump: DatabaseDump) => string[]): void {
  const rows = list.map((one) => [
    ...describe(one),
    one.name ?? reasonLabels[one.reason],
    formatBytes(one.bytes),
    formatRelativeTime(one.created_at, clock.now()),
    one.file,
  ])
  for (const line of formatTable(terminal, [...head, 'NAME', 'SIZE', 'CREATED', 'FILE'], rows)) terminal.out(line)
}

async function deleteDump(context: CommandContext): Promise<number> {
  const [, id = ''] = requirePositionals(context, 'delete-dump', 'ID')
  await context.connect().call('deleteDatabaseDump', { params: { id } })
  context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : `Deleted ${id}.`)
  return exitCodes.success
}

async function restore(context: CommandContext): Promise<number> {
  const [, slug = '', source = ''] = requirePositionals(context, 'restore', 'SLUG', 'FILE|ID')
  const service = readService(context)
  const client = context.connect()
  const path = resolve(context.cwd, source)
  const file = await stat(path).catch(() => undefined)
  if (!file && !/^dmp_\w+$/.test(source)) throw new UsageError(`${path} does not exist, and “${source}” is not a dump ID.`)
  const response = file
    ? await client.upload('importDatabase', { params: { slug }, query: { service } }, createReadStream(path), context.signal)
    : await client.call('restoreDatabase', { params: { slug, id: source } }, databaseTimeout_ms)
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`Restored the database of ${slug} from ${source}. To undo: homeport db restore ${slug} ${response.dump.id}`)
  return exitCodes.success
}

async function upgrade(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'upgrade', 'SLUG')
  const { finish, revert } = context.flags
  if (finish === true && revert === true) throw new UsageError('Use either --finish or --revert.')
  const client = context.connect()
  if (finish === true) {
    await client.call('finishDatabaseUpgrade', { params: { slug } }, databaseTimeout_ms)
    if (context.is_json) context.terminal.out(JSON.stringify({ finished: slug }))
    else context.terminal.out(`Deleted the data of ${slug} from before the upgrade.`)
    return exitCodes.success
  }
  const response = await client.call(revert === true ? 'revertDatabaseUpgrade' : 'upgradeDatabase', { params: { slug } }, databaseTimeout_ms)
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const { database, upgrade: state, deployment_id } = response
    context.terminal.out(`The database of ${slug} is on PostgreSQL ${database.engine_version}.`)
    if (state.previous_version !== null)
      context.terminal.out(
        `Its data on PostgreSQL ${state.previous_version} is kept. To go back: homeport db upgrade ${slug} --revert. To delete it: homeport db upgrade ${slug} --finish`,
      )
    if (deployment_id !== null) context.terminal.out(`Redeploying the project: ${deployment_id}`)
  }
  return exitCodes.success
}

async function drop(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'drop', 'SLUG')
  if (context.flags.yes !== true)
    throw new UsageError(`This drops the database of ${slug} with all its data. Confirm with: homeport db drop ${slug} --yes`)
  const client = context.connect()
  await client.call('deleteDatabase', { params: { slug } }, databaseTimeout_ms)
  const last = (await client.call('listDatabaseDumps', { params: { slug } })).dumps.find((one) => one.reason === 'drop')
  if (context.is_json) context.terminal.out(JSON.stringify({ dropped: slug, dump: last ?? null }))
  else
    context.terminal.out(`Dropped the database of ${slug}.${last ? ` A dump is kept as dumps/${last.file} in the data folder of the instance.` : ''}`)
  return exitCodes.success
}
