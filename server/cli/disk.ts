import { cleanableKind, type CleanableKind } from '../contract/maintenance.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError } from './command.ts'
import { formatBytes, formatTable } from './terminal.ts'

const cleanKinds = cleanableKind.options

export const disk: CliCommand = {
  summary: 'Shows what takes which room on the disk, and frees what nothing needs.',
  usage: ['disk [--notes]', 'disk clean [KIND..]'],
  options: { notes: 'say of each what it is, and what a clean-up means for it' },
  details: `Kinds: ${cleanKinds.join(', ')}. Without one: all but edge_cache, which the apps would have to fill again.\nNever freed: what serves or sleeps, what it can be rolled back to, databases, dumps, backups, and what Homeport did not make.`,
  async run(context) {
    const [subcommand, ...rest] = context.positionals
    if (subcommand === undefined) return show(context)
    if (subcommand === 'clean') return clean(context, rest)
    throw new UsageError(`“${subcommand}” is not clean.`)
  },
}

async function show(context: CommandContext): Promise<number> {
  const response = await context.connect().call('getDisk', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const rows = response.kinds
      .filter(({ bytes, reclaimable_bytes }) => bytes > 0 || reclaimable_bytes === null)
      .map(({ kind, place, bytes, reclaimable_bytes, note }) => [
        kind,
        place === 'engine' ? 'Docker' : 'folder',
        formatBytes(bytes),
        reclaimable_bytes === null ? '?' : formatBytes(reclaimable_bytes),
        ...(context.flags.notes === true || reclaimable_bytes === null ? [note ?? ''] : []),
      ])
    for (const line of formatTable(context.terminal, ['KIND', 'IN', 'SIZE', 'CAN GO'], rows)) context.terminal.out(line)
    context.terminal.out(`${formatBytes(response.total_bytes)} altogether; ${formatBytes(response.free_bytes)} are free for ${response.data_dir}.`)
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
    context.terminal.out(response.freed_bytes === 0 ? 'Nothing had to go.' : `Freed ${formatBytes(response.freed_bytes)}.`)
  }
  return exitCodes.success
}

function parseCleanKind(name: string): CleanableKind {
  const parsed = cleanableKind.safeParse(name)
  if (!parsed.success) throw new UsageError(`“${name}” cannot be cleaned. There are ${cleanKinds.join(', ')}.`)
  return parsed.data
}
