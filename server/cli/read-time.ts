import { UsageError } from './command.ts'

const unit_ms: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The time of an option: an age, or a time. */
export function readTimeFlag(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = count === undefined ? Date.parse(text) : now - Number(count) * (unit_ms[unit] ?? 0)
  if (Number.isNaN(ms)) throw new UsageError(`--${name} must be an age such as 15m, or a time such as 2026-05-01T12:00:00Z.`)
  return new Date(ms).toISOString()
}
