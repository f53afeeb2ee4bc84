import { resolve } from 'node:path'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { takeFile } from './take-file.ts'
import { ago, sizeOf, table } from './terminal.ts'

/** A large instance takes its time. */
const patience_ms = 6 * 3_600_000
const aboutKey = 'The master key is not in it: keep a copy of it in another place, or nothing that was secret can be read again.'

export const backup: Command = {
  summary: 'Backs the whole instance up into one file, while it runs.',
  forms: ['backup [FILE]'],
  options: {},
  more: `Without FILE it stays in the backups folder of the instance; homeport backups lists those.\n${aboutKey}`,
  async run(call) {
    const [name] = words(call, '[FILE]')
    const client = call.connect()
    const { backup: made, left_out } = await client.call('createBackup', {}, patience_ms)
    const file = name === undefined ? made.path : resolve(call.cwd, name)
    if (name !== undefined) {
      await take(call, made.name, file)
      // The one that was asked for lies where it was asked for.
      await client.call('deleteBackup', { params: { name: made.name } })
    }
    if (call.json) call.terminal.out(JSON.stringify({ backup: { ...made, path: file }, left_out }))
    else {
      call.terminal.out(`Backed up into ${file} (${sizeOf(made.bytes)}).`)
      for (const line of left_out) call.terminal.out(`Not in it: ${line}`)
      call.terminal.err(aboutKey)
    }
    return exitCodes.done
  },
}

export const backups: Command = {
  summary: 'Lists the backups and safe copies of the instance.',
  forms: ['backups', 'backups get NAME [--output FILE]', 'backups delete NAME'],
  options: { output: '=FILE where to write it' },
  async run(call) {
    const verb = call.words[0] ?? 'list'
    if (verb === 'list') return list(call)
    if (verb === 'get') return get(call)
    if (verb === 'delete') return remove(call)
    throw new UsageError(`“${verb}” is none of list, get, delete.`)
  },
}

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const answer = await call.connect().call('listBackups', {})
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    if (answer.recovered) call.terminal.err(answer.recovered.message)
    const names = { full: 'everything', hourly: 'ledger, hourly', before_migration: 'ledger, before an update' }
    const rows = answer.backups.map((one) => [one.name, names[one.kind], sizeOf(one.bytes), ago(one.created_at, call.clock.now())])
    if (rows.length === 0) call.terminal.out('No backups yet. Make one with: homeport backup')
    else for (const line of table(call.terminal, ['NAME', 'WHAT', 'SIZE', 'MADE'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

async function get(call: Call): Promise<number> {
  const [, name = ''] = words(call, 'get', 'NAME')
  const file = resolve(call.cwd, text(call.flags, 'output') ?? (name.endsWith('.gz') ? name : `${name}.gz`))
  await take(call, name, file)
  call.terminal.out(call.json ? JSON.stringify({ file }) : `Wrote ${file}.`)
  return exitCodes.done
}

async function remove(call: Call): Promise<number> {
  const [, name = ''] = words(call, 'delete', 'NAME')
  await call.connect().call('deleteBackup', { params: { name } })
  call.terminal.out(call.json ? JSON.stringify({ deleted: name }) : `Deleted ${name}.`)
  return exitCodes.done
}

function take(call: Call, name: string, file: string): Promise<void> {
  return takeFile(call, file, () => call.connect().download('downloadBackup', { params: { name } }, call.signal))
}
