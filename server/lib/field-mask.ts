import { isSecretParameter } from './query-mask.ts'

/** Masks secrets in captured headers and bodies, before they are stored. Texts keep everything else as sent, even if they are malformed or cut. */

export const maskedValue = '***'

/** Names of headers and fields that are masked in every capture. */
const secretName =
  /token|secret|passw|passphrase|^pwd$|^pin$|^otp$|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|authorization|^auth$|cookie|jwt|session[-_.]?id|^sid$|cvc|cvv|card[-_.]?number|x-homeport-/i

export type FieldMask = (name: string) => boolean

/** Whether the value of a header or field is masked. Names are compared without case, hyphens and underscores. */
export function createFieldMask(masked_fields: readonly string[]): FieldMask {
  const names = new Set(masked_fields.map(normalizeName))
  return (name) => secretName.test(name) || names.has(normalizeName(name))
}

const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, '')

/** Headers whose value is an address, with a query of its own. */
const addressHeaders = /^(?:referer|location|content-location|refresh|link|x-original-url)$/i

export function maskHeader(name: string, value: string, isMasked: FieldMask): string {
  if (isMasked(name)) return maskedValue
  return addressHeaders.test(name) ? value.replace(/([?&;#])([^=&;#\s"<>]+)=([^&;#\s"<>]*)/g, maskParameter(isMasked)) : value
}

const maskParameter = (isMasked: FieldMask) => (whole: string, before: string, name: string) =>
  isSecretParameter(decodeComponent(name)) || isMaskedName(decodeComponent(name), isMasked) ? `${before}${name}=${maskedValue}` : whole

/** Also the last part of `user[name]` and `user.name`. */
const isMaskedName = (name: string, isMasked: FieldMask): boolean => isMasked(name) || isMasked(/([^[\].]+)\]*$/.exec(name)?.[1] ?? name)

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** A query, or a form as `application/x-www-form-urlencoded`. A value that is JSON (as of Slack's webhooks) is masked inside. */
export const maskForm = (text: string, isMasked: FieldMask): string =>
  text.replace(/([^=&]+)=([^&]*)/g, (whole, name: string, value: string) => {
    if (isMaskedName(decodeComponent(name), isMasked)) return `${name}=${maskedValue}`
    const decoded = /^(?:%7b|%5b|[[{])/i.test(value) ? decodeComponent(value) : ''
    const masked = decoded === '' ? '' : maskText(decoded, isMasked)
    return masked === decoded ? whole : `${name}=${encodeURIComponent(masked)}`
  })

/** JSON, XML, or any other text with names and values. */
export function maskText(text: string, isMasked: FieldMask): string {
  return maskElements(maskPairs(maskJson(text, isMasked), isMasked), isMasked)
}

/** The values of quoted names, whatever they contain. A value that is cut is masked to its end. */
function maskJson(text: string, isMasked: FieldMask): string {
  let result = ''
  let copied = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at)
    const colon = skipSpace(text, end)
    if (text[colon] === ':' && isMasked(decodeString(text.slice(at, end)))) {
      const start = skipSpace(text, colon + 1)
      result += text.slice(copied, start) + JSON.stringify(maskedValue)
      copied = at = endOfValue(text, start)
    } else at = end
  }
  return result + text.slice(copied)
}

function endOfString(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at + 1
  }
  return text.length
}

const skipSpace = (text: string, start: number): number => {
  let at = start
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at++
  return at
}

function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    const length = text.slice(start).search(/[,}\]\s]/)
    return length < 0 ? text.length : start + length
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return text.length
}

function decodeString(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

/** `name=value` and `name: value`, with and without quotes and backslashes, such as JSON inside of a string, or a log line. */
function maskPairs(text: string, isMasked: FieldMask): string {
  const name = /([\w$.-]+)(?:(\\*["'])?\s*[:=]\s*)?/g
  let result = ''
  let copied = 0
  for (let found = name.exec(text); found !== null; found = name.exec(text)) {
    const start = found.index + found[0].length
    if (!/[:=]\s*$/.test(found[0]) || !isMaskedName(found[1] ?? '', isMasked) || text.startsWith(maskedValue, start)) continue
    const [value, masked] = readValue(text, start)
    if (value === 0) continue
    result += text.slice(copied, start) + masked
    copied = name.lastIndex = start + value
  }
  return result + text.slice(copied)
}

/** The length of a value, and what replaces it. */
function readValue(text: string, start: number): [length: number, masked: string] {
  const [opener] = /^\\*["']/.exec(text.slice(start, start + 8)) ?? []
  if (opener !== undefined) {
    if (text.startsWith(opener + maskedValue, start)) return [0, '']
    const close = opener.length === 1 ? endOfString(text, start) - 1 : text.indexOf(opener, start + opener.length)
    const isCut = close < 0 || text[close + opener.length - 1] !== opener.at(-1)
    return isCut ? [text.length - start, opener + maskedValue] : [close + opener.length - start, opener + maskedValue + opener]
  }
  if (text[start] === '{' || text[start] === '[') return [endOfValue(text, start) - start, maskedValue]
  // `Bearer` and the like are followed by the secret.
  const [value = ''] = /^(?:(?:Bearer|Basic|Digest|Token)\s+)?[^\s,;&"'<>{}[\]\\]*/i.exec(text.slice(start, start + 65_536)) ?? []
  return [value.length, maskedValue]
}

/** What is inside of XML elements. */
function maskElements(text: string, isMasked: FieldMask): string {
  if (!text.includes('</')) return text
  const tag = /<([\w:.-]+)(?:\s[^<>]*)?>/g
  let result = ''
  let copied = 0
  for (let found = tag.exec(text); found !== null; found = tag.exec(text)) {
    const [whole, name = ''] = found
    if (whole.endsWith('/>') || !isMaskedName(name.replace(/^.*:/, ''), isMasked)) continue
    const start = found.index + whole.length
    const end = text.indexOf(`</${name}`, start)
    result += text.slice(copied, start) + maskedValue
    copied = tag.lastIndex = end < 0 ? text.length : end
  }
  return result + text.slice(copied)
}

/** A form as `multipart/form-data`. `text` has one character for each byte. */
export function maskMultipart(text: string, boundary: string, isMasked: FieldMask): string {
  const separator = `--${boundary}`
  return text
    .split(separator)
    .map((part) => {
      const [head] = /^[^]*?\r?\n\r?\n/.exec(part) ?? []
      const name = /;\s*name="?([^";\r\n]+)/i.exec(head ?? '')?.[1]
      if (head === undefined || name === undefined) return part
      const end = /\r?\n$/.exec(part)?.[0] ?? ''
      return isMaskedName(name, isMasked) ? head + maskedValue + end : isText(head) ? head + maskText(part.slice(head.length), isMasked) : part
    })
    .join(separator)
}

/** A part of a form that is no file, or a file with text. */
const isText = (head: string): boolean => !/filename/i.test(head) || /content-type:\s*(?:text\/|[^\r\n]*(?:json|xml))/i.test(head)
