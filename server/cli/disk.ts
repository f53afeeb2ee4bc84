import { cleanKind, type CleanKind } from '../contract/upkeep.ts'
import { type Call, type Command, exitCodes, UsageError } from './command.ts'
import { sizeOf, table } from './terminal.ts'

const kinds = cleanKind.options

export const disk: Command = {
  summary: 'Shows what takes which room on the disk, and frees what nothing needs.',
  forms: ['disk [--notes]', 'disk clean [KIND..]'],
  options: { notes: 'say of each what it is, and what a clean-up means for it' },
  more: `Kinds: ${kinds.join(', ')}. Without one: all but edge_cache, which the apps would have to fill again.\nNever freed: what serves or sleeps, what it can be rolled back to, databases, dumps, backups, and what Homeport did not make.`,
  async run(call) {
    const [verb, ...rest] = call.words
    if (verb === undefined) return show(call)
    if (verb === 'clean') return clean(call, rest)
    throw new UsageError(`“${verb}” is not clean.`)
  },
}

async function show(call: Call): Promise<number> {
  const answer = await call.connect().call('getDisk', {})
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    const rows = answer.kinds
      .filter(({ bytes, reclaimable_bytes }) => bytes > 0 || reclaimable_bytes === null)
      .map(({ kind, place, bytes, reclaimable_bytes, note }) => [
        kind,
        place === 'engine' ? 'Docker' : 'folder',
        sizeOf(bytes),
        reclaimable_bytes === null ? '?' : sizeOf(reclaimable_bytes),
        ...(call.flags.notes === true || reclaimable_bytes === null ? [note ?? ''] : []),
      ])
    for (const line of table(call.terminal, ['KIND', 'IN', 'SIZE', 'CAN GO'], rows)) call.terminal.out(line)
    call.terminal.out(`${sizeOf(answer.total_bytes)} altogether; ${sizeOf(answer.free_bytes)} are free for ${answer.data_dir}.`)
  }
  return exitCodes.done
}

async function clean(call: Call, names: string[]): Promise<number> {
  const wanted = names.map(kindOf)
  const answer = await call.connect().call('cleanDisk', { body: wanted.length === 0 ? {} : { kinds: wanted } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    for (const { kind, bytes, count, note } of answer.freed)
      if (bytes > 0 || count > 0 || /not/.test(note ?? '')) call.terminal.out(`${kind.padEnd(14)}${sizeOf(bytes)}${note === null ? '' : `  ${note}`}`)
    call.terminal.out(answer.freed_bytes === 0 ? 'Nothing had to go.' : `Freed ${sizeOf(answer.freed_bytes)}.`)
  }
  return exitCodes.done
}

function kindOf(name: string): CleanKind {
  const found = cleanKind.safeParse(name)
  if (!found.success) throw new UsageError(`“${name}” cannot be cleaned. There are ${kinds.join(', ')}.`)
  return found.data
}
