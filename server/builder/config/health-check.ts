import { parseDuration } from '../../contract/homeport-yaml.ts'
import { limits } from '../../contract/limits.ts'
import type { ServiceHealthCheck } from '../../contract/project-config.ts'
import type { ConfigLog, Position } from './config-failure.ts'
import type { ConfigContext } from './service-draft.ts'
import { quote, toPlainValue, type YamlNode } from './yaml-tree.ts'
import { explainNearest } from './nearest-name.ts'

const keys = ['test', 'interval', 'timeout', 'retries', 'start_period', 'start_interval', 'disable']
const testHint = 'Write test as text, as ["CMD", "program", ...] or as ["CMD-SHELL", "text"].'

/** Fills variables into the words of a command; undefined when it has a problem. */
export type FillCommand = (words: string[], node: YamlNode) => string[] | undefined

/** A health check in compose's notation. null: the service has none, or it has a problem. */
export function readHealthCheck(
  node: YamlNode,
  label: string,
  { log }: ConfigContext,
  fill: FillCommand = (words) => words,
  readValue: (node: YamlNode, label: string) => string | undefined = (value) =>
    value.kind === 'scalar' && value.value !== null ? value.text : undefined,
): ServiceHealthCheck | null {
  if (node.kind !== 'map') {
    log.reject(node.at, `${label} is not a map.`, testHint)
    return null
  }
  for (const { key, at } of node.entries.values())
    if (!keys.includes(key) && !key.startsWith('x-')) log.reject(at, `${label}: unknown key ${quote(key)}.`, explainNearest(key, keys))
  const valueOf = (key: string) => node.entries.get(key)?.value
  const disable = valueOf('disable')
  if (disable?.kind === 'scalar' && disable.value === true) return null
  const test = node.entries.get('test')
  if (!test) {
    log.note(node.at, `${label} has no test, so it has no effect.`)
    return null
  }
  const command = readTest(test.value)
  if (command === undefined) {
    log.reject(test.at, `${label}.test is not a command.`, testHint)
    return null
  }
  const filled = command === null ? null : fill(command, test.value)
  if (!filled) return null
  const readSeconds = (key: string, fallback: number): number => {
    const value = valueOf(key)
    const text = value && readValue(value, `${label}.${key}`)
    if (value === undefined || text === undefined) return fallback
    const seconds = parseDuration(text)
    if (seconds !== undefined && seconds <= 86_400) return seconds
    log.reject(value.at, `${label}.${key} is not a duration.`, 'Write a duration with a unit, such as 30s or 1m30s.')
    return fallback
  }
  const retries = valueOf('retries')
  const count = Number((retries && readValue(retries, `${label}.retries`)) ?? 3)
  if (!Number.isInteger(count) || count < 0 || count > 1000)
    log.reject(retries?.at ?? node.at, `${label}.retries is not a whole number.`, 'Write a number such as 3.')
  return {
    kind: 'command',
    command: filled,
    interval_s: readSeconds('interval', 30) || 30,
    timeout_s: readSeconds('timeout', 30) || 30,
    retries: count || 3,
    start_period_s: readSeconds('start_period', 0),
  }
}

interface PathCheckInput {
  path: string
  timeout?: string | undefined
  interval?: string | undefined
  test?: unknown
  retries?: unknown
  start_period?: unknown
  start_interval?: unknown
  disable?: boolean | undefined
}

/** A health check of homeport.yaml that requests a path. null: it is turned off. */
export function readPathCheck(input: PathCheckInput, at: Position, label: string, log: ConfigLog): ServiceHealthCheck | null {
  if (input.disable === true) return null
  if (input.test !== undefined) log.reject(at, `${label} has path and test.`, 'Keep one of them: path for a request, test for a command.')
  for (const key of ['retries', 'start_period', 'start_interval'] as const)
    if (input[key] !== undefined)
      log.reject(at, `${label}.${key} has no meaning for a path.`, 'Set timeout: how long a new version may take to respond.')
  const readSeconds = (key: 'timeout' | 'interval', { min, max }: { min: number; max: number }): number | undefined => {
    const text = input[key]
    const seconds = text === undefined ? undefined : parseDuration(text)
    if (seconds !== undefined && (seconds < min || seconds > max))
      log.reject(at, `${label}.${key}: ${quote(text ?? '')} is not from ${min}s to ${max}s.`, `Write a duration such as ${min * 2}s.`)
    return seconds
  }
  const timeout_s = readSeconds('timeout', limits.health_timeout_s)
  const interval_s = readSeconds('interval', limits.health_interval_s)
  return createPathCheck(input.path, timeout_s, interval_s)
}

export const createPathCheck = (path: string, timeout_s?: number, interval_s?: number): ServiceHealthCheck => ({
  kind: 'path',
  path,
  ...(timeout_s !== undefined && { timeout_s }),
  ...(interval_s !== undefined && { interval_s }),
})

/** The time that a file of another platform allows for a new version, within the limits here. */
export const limitHealthTimeout = (seconds: number): number =>
  Math.min(Math.max(Math.round(seconds), limits.health_timeout_s.min), limits.health_timeout_s.max)

/** null: no health check (`NONE`); undefined: not a test. */
function readTest(node: YamlNode): string[] | null | undefined {
  if (node.kind === 'scalar') return node.value === null || node.text.trim() === '' ? undefined : ['/bin/sh', '-c', node.text]
  const words = toPlainValue(node)
  if (!Array.isArray(words) || words.length === 0) return undefined
  const texts = words.map((word) => (typeof word === 'string' || typeof word === 'number' ? String(word) : undefined))
  const [kind, ...rest] = texts
  if (texts.includes(undefined)) return undefined
  const command = rest.filter((word) => word !== undefined)
  if (kind === 'NONE') return null
  if (kind === 'CMD-SHELL') return command.length === 1 ? ['/bin/sh', '-c', command[0] ?? ''] : undefined
  return kind === 'CMD' && command.length > 0 ? command : undefined
}
