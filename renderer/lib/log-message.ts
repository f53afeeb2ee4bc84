import { stripAnsi } from './ansi.ts'

/** The message of a line that is a JSON object with one (`msg` or `message`); the whole line otherwise. */
export function getLogMessage(line: string): string {
  const text = stripAnsi(line)
  if (!/^\s*\{".*\}\s*$/.test(text)) return text
  try {
    const { msg, message } = JSON.parse(text) as { msg?: unknown; message?: unknown }
    return [msg, message].find((one): one is string => typeof one === 'string' && one !== '') ?? text
  } catch {
    return text
  }
}
