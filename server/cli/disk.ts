import { cleanableKind, type CleanableKind } from '../contract/maintenance.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError } from './command.ts'
import { formatBytes, formatTable } from './terminal.ts'

const cleanKinds = cleanableKind.options

export const disk: CliCommand = {
  summary: 'Shows what uses disk space, and deletes what is no longer needed.',
  usage: ['disk [--notes]', 'disk clean [KIND..]'],
  options: { notes: 'explain each kind, and what cleaning it means' },
  details: `Kinds: ${cleanKinds.join(', ')}. Without KIND: all but edge_cache, which would have to be filled again, and unknown_apps, which may be missed.\nNever deleted: running and sleeping apps, rollback targets, databases, dumps, backups, and data of other programs.`,
  async run(context) {
    const [subcommand, ...rest] = context.positionals
    if (subcommand === undefined) return show(context)
    if (subcommand === 'clean') return clean(context, rest)
    throw new UsageError(`Unknown subcommand “${subcommand}”. Use: homeport disk clean`)
  },
}

async function show(context: CommandContext): Promise<number> {
  const response = await context.connect().call('getDisk', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const rows = response.kinds
      .filter(({ bytes, reclaimable_bytes }) => bytes > 0 || reclaimable_bytes === null)
      .map(({ kind, location, bytes, reclaimable_bytes, note }) => [
        kind,
        location === 'engine' ? 'Docker' : 'data folder',
        formatBytes(bytes),
        reclaimable_bytes === null ? '?' : formatBytes(reclaimable_bytes),
        ...(context.flags.notes === true || reclaimable_bytes === null ? [note ?? ''] : []),
      ])
    for (const line of formatTable(context.terminal, ['KIND', 'LOCATION', 'SIZE', 'RECLAIMABLE'], rows)) context.terminal.out(line)
    context.terminal.out(`${formatBytes(response.total_bytes)} in total; ${formatBytes(response.free_bytes)} free for ${response.data_dir}.`)
  }
  return exitCodes.success
}

async function clean(context: CommandContext, names: string[]): Promise<number> {
  const selectedKinds = names.map(parseCleanKind)
  const response = await context.connect().call('cleanDisk', { body: selectedKinds.length === 0 ? {} : { kinds: selectedKinds } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    for (const { kind, bytes, count, note } of response.freed)
      if (bytes > 0 || count > 0 || /not/.test(note ?? ''))
        context.terminal.out(`${kind.padEnd(14)}${formatBytes(bytes)}${note === null ? '' : `  ${note}`}`)
    context.terminal.out(response.freed_bytes === 0 ? 'Nothing to clean.' : `Freed ${formatBytes(response.freed_bytes)}.`)
  }
  return exitCodes.success
}

function parseCleanKind(name: string): CleanableKind {
  const parsed = cleanableKind.safeParse(name)
  if (!parsed.success) throw new UsageError(`“${name}” cannot be cleaned. Kinds: ${cleanKinds.join(', ')}.`)
  return parsed.data
}
