import { resolve } from 'node:path'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { downloadToFile } from './download-file.ts'
import { formatRelativeTime, formatBytes, formatTable } from './terminal.ts'

/** A large instance takes its time. */
const backupTimeout_ms = 6 * 3_600_000
const keyNotice = 'The master key is not in it: keep a copy of it in another place, or nothing that was secret can be read again.'

export const backup: CliCommand = {
  summary: 'Backs the whole instance up into one file, while it runs.',
  usage: ['backup [FILE]'],
  options: {},
  details: `Without FILE it stays in the backups folder of the instance; homeport backups lists those.\n${keyNotice}`,
  async run(context) {
    const [name] = requirePositionals(context, '[FILE]')
    const client = context.connect()
    const { backup: created, left_out } = await client.call('createBackup', {}, backupTimeout_ms)
    const file = name === undefined ? created.path : resolve(context.cwd, name)
    if (name !== undefined) {
      await downloadBackup(context, created.name, file)
      // The one that was asked for lies where it was asked for.
      await client.call('deleteBackup', { params: { name: created.name } })
    }
    if (context.is_json) context.terminal.out(JSON.stringify({ backup: { ...created, path: file }, left_out }))
    else {
      context.terminal.out(`Backed up into ${file} (${formatBytes(created.bytes)}).`)
      for (const line of left_out) context.terminal.out(`Not in it: ${line}`)
      context.terminal.err(keyNotice)
    }
    return exitCodes.success
  },
}

export const backups: CliCommand = {
  summary: 'Lists the backups and safe copies of the instance.',
  usage: ['backups', 'backups get NAME [--output FILE]', 'backups delete NAME'],
  options: { output: '=FILE where to write it' },
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (subcommand === 'list') return list(context)
    if (subcommand === 'get') return get(context)
    if (subcommand === 'delete') return remove(context)
    throw new UsageError(`“${subcommand}” is none of list, get, delete.`)
  },
}

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const response = await context.connect().call('listBackups', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    if (response.recovered) context.terminal.err(response.recovered.message)
    const names = { full: 'everything', hourly: 'ledger, hourly', before_migration: 'ledger, before an update' }
    const rows = response.backups.map((one) => [
      one.name,
      names[one.kind],
      formatBytes(one.bytes),
      formatRelativeTime(one.created_at, context.clock.now()),
    ])
    if (rows.length === 0) context.terminal.out('No backups yet. Make one with: homeport backup')
    else for (const line of formatTable(context.terminal, ['NAME', 'WHAT', 'SIZE', 'MADE'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

async function get(context: CommandContext): Promise<number> {
  const [, name = ''] = requirePositionals(context, 'get', 'NAME')
  const file = resolve(context.cwd, stringFlag(context.flags, 'output') ?? (name.endsWith('.gz') ? name : `${name}.gz`))
  await downloadBackup(context, name, file)
  context.terminal.out(context.is_json ? JSON.stringify({ file }) : `Wrote ${file}.`)
  return exitCodes.success
}

async function remove(context: CommandContext): Promise<number> {
  const [, name = ''] = requirePositionals(context, 'delete', 'NAME')
  await context.connect().call('deleteBackup', { params: { name } })
  context.terminal.out(context.is_json ? JSON.stringify({ deleted: name }) : `Deleted ${name}.`)
  return exitCodes.success
}

function downloadBackup(context: CommandContext, name: string, file: string): Promise<void> {
  return downloadToFile(context, file, () => context.connect().download('downloadBackup', { params: { name } }, context.signal))
}
