import { parseDotenvLines } from '../../../server/contract/dotenv.ts'
import { validateKey, validateValue } from '../../../server/contract/env-var-rules.ts'
import type { ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Environment } from '../../lib/environments.ts'

export interface ImportPlanLine {
  line: number
  /** Null for a line that is not an assignment. The line may be a secret, so it is not shown. */
  key: string | null
  outcome: 'create' | 'skip' | 'refuse'
  reason: string
}

export interface ImportPlan {
  lines: ImportPlanLine[]
  vars: { key: string; value: string }[]
}

/** Result of importing this file, line by line, computed before anything is sent. */
export function planImport(text: string, environment: Environment, existing: readonly ProjectEnvVar[]): ImportPlan {
  const { entries, invalidLines } = parseDotenvLines(text)
  const last = new Map(entries.map(({ key, line }) => [key, line]))
  const existingVariables = new Map(existing.filter((one) => one.environment === environment).map((one) => [one.key, one]))
  const vars: ImportPlan['vars'] = []
  const lines = entries.map(({ key, value, line }): ImportPlanLine => {
    const lastLine = last.get(key)
    const existingVariable = existingVariables.get(key)
    const error = validateKey(key) ?? validateValue(value)
    if (error !== undefined) return { line, key, outcome: 'refuse', reason: error }
    if (lastLine !== line) return { line, key, outcome: 'skip', reason: `Line ${lastLine} sets the same key and takes precedence.` }
    if (existingVariable?.value === value && !existingVariable.is_write_only)
      return { line, key, outcome: 'skip', reason: 'Already exists with the same value.' }
    if (existingVariable !== undefined)
      return { line, key, outcome: 'skip', reason: 'Already exists with another value, which is kept. Change it in the list.' }
    if (vars.length >= limits.env_vars.max)
      return { line, key, outcome: 'refuse', reason: `At most ${limits.env_vars.max} variables can be added at once. Import the rest afterwards.` }
    vars.push({ key, value })
    return { line, key, outcome: 'create', reason: '' }
  })
  for (const line of invalidLines) lines.push({ line, key: null, outcome: 'refuse', reason: 'Not a KEY=value line.' })
  return { lines: lines.toSorted((a, b) => a.line - b.line), vars }
}
