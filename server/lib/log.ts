/** The platform's own log: one line of JSON per event. Never contains a secret or a body. */
export interface Log {
  info(event: string, fields?: Record<string, unknown>): void
  warn(event: string, fields?: Record<string, unknown>): void
  error(event: string, fields?: Record<string, unknown>): void
}

export interface LogEntry {
  level: keyof Log
  event: string
  fields: Record<string, unknown>
}

export function createLog(write: (line: string, entry: LogEntry) => void): Log {
  const at =
    (level: keyof Log) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      write(
        JSON.stringify({
          ts: new Date().toISOString(),
          level,
          event,
          ...Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, serializeValue(v)])),
        }),
        { level, event, fields },
      )
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export const silentLog: Log = createLog(() => {})

function serializeValue(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause === undefined ? undefined : serializeValue(value.cause) }
}
