import { formatDotenv, parseDotenv, parseDotenvLines } from '../../../server/contract/dotenv.ts'
import { validateKey, validateValue } from '../../../server/contract/env-var-rules.ts'
import type { NewProjectEnvVar } from '../../../server/contract/env-vars.ts'
import type { Environment } from '../../lib/environments.ts'
import { type ChangeSet, isSecretName, type StagedVariable } from './change-set.ts'

/** Stands for a value that is not shown and stays as it is. */
export const hiddenValue = '<hidden>'

interface TextEdit extends ChangeSet {
  /** Sentences, each with its line. */
  problems: string[]
}

/** The variables of an environment as a .env file. Secrets, and values without a representation in this format, are placeholders. */
export function formatVariables(variables: readonly StagedVariable[]): string {
  const unrepresentable = new Set(formatDotenv(variables).left_out)
  return formatDotenv(variables.map((one) => ({ key: one.key, value: isHidden(one) || unrepresentable.has(one.key) ? hiddenValue : one.value }))).text
}

/** What saving this text would change in the environment. */
export function planTextEdit(text: string, environment: Environment, variables: readonly StagedVariable[]): TextEdit {
  const { entries, invalidLines } = parseDotenvLines(text)
  const problems = invalidLines.map((line) => `Line ${line}: not a KEY=value line.`)
  const existing = new Map(variables.map((one) => [one.key, one]))
  for (const { key, value, line } of entries) {
    const problem = validateKey(key) ?? validateValue(value)
    if (problem !== undefined) problems.push(`Line ${line}: ${problem}`)
    else if (value === hiddenValue && !existing.has(key)) problems.push(`Line ${line}: ${hiddenValue} stands for an existing value; ${key} has none.`)
  }
  const wanted = parseDotenv(text)
  const keys = new Set(wanted.map(({ key }) => key))
  const create: NewProjectEnvVar[] = []
  const update: Record<string, { value: string }> = {}
  for (const { key, value } of wanted) {
    const before = existing.get(key)
    if (!before) create.push({ key, value, environment, is_sensitive: isSecretName(key), is_write_only: false, is_build_secret: false })
    else if (value !== hiddenValue && (value !== before.value || before.is_write_only)) update[before.id] = { value }
  }
  return { problems, create, update, delete: variables.filter(({ key }) => !keys.has(key)).map(({ id }) => id) }
}

const isHidden = ({ key, is_sensitive, is_write_only }: StagedVariable): boolean => is_sensitive || is_write_only || isSecretName(key)
