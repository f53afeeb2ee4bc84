import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Database } from '../contract/databases.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { ago, sizeOf, table } from './terminal.ts'

/** A first database may have to wait for a whole server, a large one for all of its rows. */
const patience_ms = 6 * 3_600_000

export const db: Command = {
  summary: 'Makes, shows, dumps, restores and drops the PostgreSQL database of a project.',
  forms: [
    'db [show] SLUG',
    'db create SLUG',
    'db url SLUG',
    'db psql SLUG [-- ARGUMENT ...]',
    'db dump SLUG [FILE]',
    'db dumps SLUG',
    'db restore SLUG FILE|ID',
    'db drop SLUG --yes',
  ],
  options: { yes: 'drop: do it' },
  more: 'The app gets the address as DATABASE_URL. dump writes gzipped SQL, plain SQL into a FILE.sql; without FILE the dump stays with the\ninstance. restore takes either, and what pg_dump writes; what is there now is dumped first, and so it is before a drop.',
  async run(call) {
    const [verb = ''] = call.words
    if (Object.hasOwn(verbs, verb) && call.words.length > 1) return verbs[verb as keyof typeof verbs](call)
    if (call.words.length === 1) return show({ ...call, words: ['show', verb] })
    throw new UsageError(verb === '' ? 'SLUG is missing.' : `“${verb}” is none of ${Object.keys(verbs).join(', ')}.`)
  },
}

const verbs = { show, create, url, psql, dump, dumps, restore, drop }

const read = async (call: Call, slug: string): Promise<Database> => (await call.connect().call('getDatabase', { params: { slug } })).database

async function show(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'show', 'SLUG')
  const database = await read(call, slug)
  if (call.json) call.terminal.out(JSON.stringify({ database }))
  else {
    const { db_name, host, port, engine_version, size_bytes, created_at } = database
    call.terminal.out(`${db_name} at ${host}:${port}, PostgreSQL ${engine_version}, ${sizeOf(size_bytes)}, made ${ago(created_at, call.clock.now())}`)
    call.terminal.out(`Its address, password included: homeport db url ${slug}`)
  }
  return exitCodes.done
}

async function create(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'create', 'SLUG')
  const answer = await call.connect().call('createDatabase', { params: { slug } }, patience_ms)
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    call.terminal.out(`${slug} has a database: ${answer.database.db_name}. The app gets it as DATABASE_URL.`)
    if (answer.deployment_id !== null) call.terminal.out(`The project is deployed again for it: ${answer.deployment_id}`)
  }
  return exitCodes.done
}

async function url(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'url', 'SLUG')
  const { connection_string } = await read(call, slug)
  call.terminal.out(call.json ? JSON.stringify({ connection_string }) : connection_string)
  return exitCodes.done
}

/** The password goes by the environment: arguments are for everybody on this machine to read. */
async function psql(call: Call): Promise<number> {
  const [, slug = '', ...more] = call.words
  const { host, port, db_user, db_name, password } = await read(call, slug)
  const args = ['--host', host, '--port', String(port), '--username', db_user, '--dbname', db_name, ...more]
  const code = await call.runTool('psql', args, { PGPASSWORD: password })
  if (code === undefined) throw new Error(`psql is not installed here. Install PostgreSQL’s client, or use another one with: homeport db url ${slug}`)
  return code
}

async function dump(call: Call): Promise<number> {
  const [, slug = '', name] = words(call, 'dump', 'SLUG', '[FILE]')
  const client = call.connect()
  const made = (await client.call('dumpDatabase', { params: { slug } }, patience_ms)).dump
  const path = name === undefined ? undefined : resolve(call.cwd, name)
  if (path !== undefined) {
    const file = Readable.from(await client.download('downloadDatabaseDump', { params: { slug, id: made.id } }, call.signal))
    const target = createWriteStream(`${path}.part`, { mode: 0o600, flags: 'wx' })
    try {
      if (/\.gz$/i.test(path)) await pipeline(file, target)
      else await pipeline(file, createGunzip(), target)
    } catch (error) {
      await rm(`${path}.part`, { force: true })
      throw error
    }
    await rename(`${path}.part`, path)
    // It lies where it was asked for; who is not the owner of the instance leaves the other one behind.
    await client.call('deleteDatabaseDump', { params: { id: made.id } }).catch(() => {})
  }
  if (call.json) call.terminal.out(JSON.stringify({ dump: path === undefined ? made : { ...made, path } }))
  else if (path === undefined) call.terminal.out(`Dumped ${slug} into dumps/${made.file} of the instance’s data folder (${sizeOf(made.bytes)}).`)
  else call.terminal.out(`Dumped ${slug} into ${path} (${sizeOf((await stat(path)).size)}).`)
  return exitCodes.done
}

async function dumps(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'dumps', 'SLUG')
  const answer = await call.connect().call('listDatabaseDumps', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else if (answer.dumps.length === 0) call.terminal.out(`No dumps yet. Write one with: homeport db dump ${slug}`)
  else {
    const why = { manual: 'asked for', drop: 'before a drop', restore: 'before a restore' }
    const rows = answer.dumps.map((one) => [one.id, why[one.reason], sizeOf(one.bytes), ago(one.created_at, call.clock.now()), one.file])
    for (const line of table(call.terminal, ['ID', 'WHY', 'SIZE', 'WHEN', 'FILE'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

async function restore(call: Call): Promise<number> {
  const [, slug = '', what = ''] = words(call, 'restore', 'SLUG', 'FILE|ID')
  const client = call.connect()
  const path = resolve(call.cwd, what)
  const file = await stat(path).catch(() => undefined)
  if (!file && !/^dmp_\w+$/.test(what)) throw new UsageError(`${path} is not there, and “${what}” is no id of a dump.`)
  const answer = file
    ? await client.upload('importDatabase', slug, createReadStream(path), call.signal)
    : await client.call('restoreDatabase', { params: { slug, id: what } }, patience_ms)
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else call.terminal.out(`${slug} is what ${what} says. What was there before: homeport db restore ${slug} ${answer.dump.id}`)
  return exitCodes.done
}

async function drop(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'drop', 'SLUG')
  if (call.flags.yes !== true)
    throw new UsageError(`This drops the database of ${slug} with all that is in it. Say so: homeport db drop ${slug} --yes`)
  const client = call.connect()
  await client.call('deleteDatabase', { params: { slug } }, patience_ms)
  const last = (await client.call('listDatabaseDumps', { params: { slug } })).dumps.find((one) => one.reason === 'drop')
  if (call.json) call.terminal.out(JSON.stringify({ dropped: slug, dump: last ?? null }))
  else
    call.terminal.out(`Dropped the database of ${slug}.${last ? ` A dump of it is kept as dumps/${last.file} of the instance’s data folder.` : ''}`)
  return exitCodes.done
}
