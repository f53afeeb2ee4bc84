import { resolve } from 'node:path'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, requirePositionals, unknownSubcommand } from './command.ts'
import { downloadToFile } from './download-file.ts'
import { formatRelativeTime, formatBytes, formatTable } from './terminal.ts'

/** A backup of a large instance can take hours. */
const backupTimeout_ms = 6 * 3_600_000
const keyNotice = 'The backup does not contain the master key. Keep a copy of the key in another place: without it, secrets cannot be decrypted.'

export const backup: CliCommand = {
  summary: 'Backs up the whole instance to one file while it runs.',
  usage: ['backup [FILE]'],
  options: {},
  details: `Without FILE, the backup stays in the backups folder of the instance. homeport backups lists them.\n${keyNotice}`,
  async run(context) {
    const [name] = requirePositionals(context, '[FILE]')
    const client = context.connect()
    const { backup: created, left_out } = await client.call('createBackup', {}, backupTimeout_ms)
    const file = name === undefined ? created.path : resolve(context.cwd, name)
    if (name !== undefined) {
      await downloadBackup(context, created.name, file)
      // FILE is the only copy the user asked for.
      await client.call('deleteBackup', { params: { name: created.name } })
    }
    if (context.is_json) context.terminal.out(JSON.stringify({ backup: { ...created, path: file }, left_out }))
    else {
      context.terminal.out(`Backed up to ${file} (${formatBytes(created.bytes)}).`)
      for (const line of left_out) context.terminal.out(`Not included: ${line}`)
      context.terminal.err(keyNotice)
    }
    return exitCodes.success
  },
}

export const backups: CliCommand = {
  summary: 'Lists, downloads and deletes the backups of the instance.',
  usage: ['backups', 'backups get NAME [--output FILE]', 'backups delete NAME'],
  options: { output: '=FILE file to write (default: NAME)' },
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (subcommand === 'list') return list(context)
    if (subcommand === 'get') return get(context)
    if (subcommand === 'delete') return remove(context)
    throw unknownSubcommand(subcommand, ['list', 'get', 'delete'])
  },
}

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const response = await context.connect().call('listBackups', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    if (response.recovered) context.terminal.err(response.recovered.message)
    const names = { full: 'full', hourly: 'database, hourly', before_migration: 'database, before an update' }
    const rows = response.backups.map((one) => [
      one.name,
      names[one.kind],
      formatBytes(one.bytes),
      formatRelativeTime(one.created_at, context.clock.now()),
    ])
    if (rows.length === 0) context.terminal.out('No backups yet. Create one with: homeport backup')
    else for (const line of formatTable(context.terminal, ['NAME', 'KIND', 'SIZE', 'CREATED'], rows)) context.terminal.out(line)
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
