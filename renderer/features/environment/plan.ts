import { readDotenv } from '../../../server/contract/dotenv.ts'
import { keyFault, valueFault } from '../../../server/contract/env-var-rules.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Environment } from './environments.ts'

export interface PlanLine {
  line: number
  /** Null where the line is no assignment. What stands there may be a secret, so it is not repeated. */
  key: string | null
  fate: 'create' | 'skip' | 'refuse'
  why: string
}

export interface Plan {
  lines: PlanLine[]
  vars: { key: string; value: string }[]
}

/** What saving this file would do, line by line, before anything is sent. */
export function planImport(text: string, environment: Environment, known: readonly EnvVar[]): Plan {
  const { entries, unread } = readDotenv(text)
  const last = new Map(entries.map(({ key, line }) => [key, line]))
  const there = new Map(known.filter((one) => one.environment === environment).map(({ key, value }) => [key, value]))
  const vars: Plan['vars'] = []
  const lines = entries.map(({ key, value, line }): PlanLine => {
    const counts = last.get(key)
    const before = there.get(key)
    const fault = keyFault(key) ?? valueFault(value)
    if (fault !== undefined) return { line, key, fate: 'refuse', why: fault }
    if (counts !== line) return { line, key, fate: 'skip', why: `It comes again in line ${counts}, which counts.` }
    if (before === value) return { line, key, fate: 'skip', why: 'It is there already, with the same value.' }
    if (before !== undefined) return { line, key, fate: 'skip', why: 'It is there already with another value, which stays. Change it in the list.' }
    if (vars.length >= limits.env_vars.max)
      return { line, key, fate: 'refuse', why: `At most ${limits.env_vars.max} go at once. Paste it again afterwards.` }
    vars.push({ key, value })
    return { line, key, fate: 'create', why: '' }
  })
  for (const line of unread) lines.push({ line, key: null, fate: 'refuse', why: 'Not a KEY=value line.' })
  return { lines: lines.toSorted((a, b) => a.line - b.line), vars }
}
