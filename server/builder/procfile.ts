/** A line of a Procfile: a process and its shell command. */
export interface ProcfileLine {
  name: string
  command: string
  /** From 1. */
  line: number
}

/** The processes of a Procfile in their order, and the invalid lines. */
export function parseProcfile(text: string): { processes: ProcfileLine[]; invalid_lines: number[] } {
  const processes: ProcfileLine[] = []
  const invalid_lines: number[] = []
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const [, name, command] = /^\s*([A-Za-z0-9_-]+)\s*:\s*(\S.*)$/.exec(line) ?? []
    if (name !== undefined && command !== undefined) processes.push({ name, command: command.trim(), line: index + 1 })
    else if (/^\s*[^#\s]/.test(line)) invalid_lines.push(index + 1)
  }
  return { processes, invalid_lines }
}

/** The command of the process `web`; null without one. */
export function findWebProcess(text: string | null): string | null {
  return parseProcfile(text ?? '').processes.find(({ name }) => name === 'web')?.command ?? null
}

/** The command of `web`, else of the first process that keeps running, because a bot has only a worker. */
export function findMainProcess(text: string | null): string | null {
  const { processes } = parseProcfile(text ?? '')
  return findWebProcess(text) ?? processes.find(({ name }) => name !== 'release')?.command ?? null
}
