import { stripVTControlCharacters } from 'node:util'
import type { DrainLine } from './drain-line.ts'

/** `local0`, which is free for applications. */
const facility = 16
const severities = { error: 3, warn: 4, info: 6 } as const
/** Of RFC 5612, for documentation: Homeport has no enterprise number of its own. */
const enterpriseNumber = 32473

/** A message of RFC 5424, at most `maxBytes` long. Line breaks and control characters of the text become spaces. */
export function formatSyslogMessage(line: DrainLine, maxBytes: number): Buffer {
  const { project, environment, branch, id, source, deployment_id } = line
  const parameters = Object.entries({ project, environment, branch, id }).filter((entry): entry is [string, string] => entry[1] !== null)
  const data = parameters.map(([name, value]) => ` ${name}="${escapeParameter(value)}"`).join('')
  const header = [
    `<${facility * 8 + severities[line.level]}>1`,
    line.timestamp,
    toField(project, 255),
    toField(line.service ?? 'web', 48),
    toField(deployment_id, 128),
    source,
    `[homeport@${enterpriseNumber}${data}]`,
  ]
  // The byte order mark says that the message is UTF-8.
  return truncateUtf8(Buffer.from(`${header.join(' ')} \ufeff${toPlainText(line.message)}`), maxBytes)
}

/** Octet counting of RFC 6587: a message may contain anything, also a line break. */
export const frameSyslogMessage = (message: Buffer): Buffer => Buffer.concat([Buffer.from(`${message.length} `), message])

const toField = (value: string | null, length: number): string => (value ?? '').replace(/[^\x21-\x7e]/g, '').slice(0, length) || '-'

const toPlainText = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- a line break could forge a second message at a receiver that splits at them
  stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')

const escapeParameter = (value: string): string => toPlainText(value).replace(/["\\\]]/g, '\\$&')

/** Cuts between characters. */
function truncateUtf8(bytes: Buffer, max: number): Buffer {
  if (bytes.length <= max) return bytes
  let end = max
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
