export type LogLevel = 'error' | 'warn' | 'info'

const maxScannedLength = 2_000
const levelFieldPattern = /\b(?:level|lvl|severity)["']?\s*[=:]\s*["']?(\w+)/i
// A timestamp before the level: "2026-01-31T12:00:00.000Z ERROR".
const timePrefixPattern = /^[^\p{L}]{0,8}\d{4}-\d\d-\d\d[T ][\d:.,]{5,18}(?:Z|[+-]\d\d:?\d\d)?/u
// "[12:00:00] WARN", "npm error", "12:00 [error] 7#7:"; not "errors", "error's" or "error = 1".
const leadingLevelPattern =
  /^[^\p{L}]{0,40}(?:(?:npm|pnpm|yarn)\s)?\[?(trace|debug|verbose|info|notice|warn(?:ing)?|error|err|fatal|critical|panic)\b(?!['’]|\s?=)/iu
// "TypeError: x is not a function", "Uncaught Exception: …", "(node:7) DeprecationWarning: …", "src/a.ts(3,1): error TS2304: …".
const thrownErrorPattern = /^(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*:/
const nodeWarningPattern = /^\(node:\d+\) (?:\[\w+\] )?\w*Warning:/
const diagnosticPattern = /: (error|warning)\b(?: \w+)?:/i

/** The level that a line states, as text or JSON; undefined without one. */
export function detectLevel(text: string): LogLevel | undefined {
  const head = text.slice(0, maxScannedLength).trimStart().replace(timePrefixPattern, '')
  const named = (levelFieldPattern.exec(head) ?? leadingLevelPattern.exec(head) ?? diagnosticPattern.exec(head))?.[1]
  if (named !== undefined) return normalizeLevel(named.toLowerCase())
  if (nodeWarningPattern.test(head)) return 'warn'
  return thrownErrorPattern.test(head) ? 'error' : undefined
}

/** Pino and Bunyan number their levels in tens. */
function normalizeLevel(name: string): LogLevel | undefined {
  if (/^\d+$/.test(name)) return Number(name) >= 50 ? 'error' : Number(name) >= 40 ? 'warn' : 'info'
  if (/^(?:err|fatal|crit|panic|alert|emerg)/.test(name)) return 'error'
  if (name.startsWith('warn')) return 'warn'
  return /^(?:trace|debug|verbose|info|notice|log|http|silly)/.test(name) ? 'info' : undefined
}
