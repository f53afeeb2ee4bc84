/** Masks secret values in a line in all common encodings: plain, percent-encoded, base64, hex, JSON-escaped once or twice, in any case. */
export interface SecretMask {
  (line: string): string
  /** Masks consecutive lines, including secrets that are wrapped; `before` is the unmasked text before them. */
  lines(lines: readonly string[], before?: string): string[]
  /** The length of the preceding text that may be part of a secret in a line. */
  reach: number
}

const minimumSecretLength = 6
const redacted = '••••••'

export const noMask: SecretMask = Object.assign((line: string) => line, { lines: (lines: readonly string[]) => [...lines], reach: 0 })

export function createSecretMask(secrets: Iterable<string>): SecretMask {
  const forms = new Set<string>()
  for (const secret of secrets)
    for (const part of [secret, secret.replace(/\r?\n/g, ''), ...secret.split(/\r?\n/)])
      if (part.length >= minimumSecretLength) for (const form of listEncodings(part)) forms.add(form)
  if (forms.size === 0) return noMask
  // Longest first, so that a secret that contains another one is masked as a whole.
  const sorted = [...forms].sort((a, b) => b.length - a.length)
  const pattern = createPattern(sorted)
  // A wrapped line may be indented or end with a carriage return, so white space is ignored.
  const compactForms = [...new Set(sorted.map(stripWhitespace))].filter((form) => form.length >= minimumSecretLength)
  const compactPattern = createPattern(compactForms)
  const prefixes = compactForms
    .map((form) => form.toLowerCase())
    .map((form) => ({ form, half: form.slice(0, Math.max(minimumSecretLength, form.length >> 1)) }))
  const reach = Math.max(0, ...compactForms.map(({ length }) => length - 1))

  /** The position where a text ends with more than half of a secret, whose rest may follow. */
  const findPartialSecret = (text: string): Span | undefined => {
    const tail = text.slice(-reach).toLowerCase()
    for (const { form, half } of prefixes) {
      const at = tail.lastIndexOf(half)
      if (at >= 0 && form.startsWith(tail.slice(at))) return { from: text.length - tail.length + at, to: text.length }
    }
    return undefined
  }

  const maskLine = (line: string) => line.replace(pattern, redacted)
  return Object.assign(maskLine, {
    reach,
    lines(lines: readonly string[], before = '') {
      const compactLines = lines.map(stripWhitespace)
      const text = stripWhitespace(before) + compactLines.join('')
      const end = findPartialSecret(text)
      if (lines.length === 1 && compactLines[0] === text && !end) return lines.map(maskLine)
      const spans = findSpans(compactPattern, text)
      if (end && !spans.some((span) => span.to > end.from)) spans.push(end)
      let at = text.length - compactLines.join('').length
      return lines.map((line, index) => {
        const from = at
        at += compactLines[index]!.length
        const wrapped = spans.filter((span) => span.from < at && span.to > from && (span.from < from || span.to > at || span === end))
        if (wrapped.length === 0) return maskLine(line)
        const positions = [...line.matchAll(/\S/g)].map((found) => found.index)
        const wrappedSpans = wrapped.map((span) => ({
          from: positions[Math.max(span.from, from) - from]!,
          to: positions[Math.min(span.to, at) - from - 1]! + 1,
        }))
        return redactSpans(line, [...findSpans(pattern, line), ...wrappedSpans])
      })
    },
  })
}

interface Span {
  from: number
  to: number
}

const findSpans = (pattern: RegExp, text: string): Span[] =>
  [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ from: index, to: index + found.length }))

/** The text with each span masked; overlapping spans are merged. */
function redactSpans(text: string, spans: Span[]): string {
  let masked = ''
  let at = 0
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from >= at) masked += text.slice(at, from) + redacted
    at = Math.max(at, to)
  }
  return masked + text.slice(at)
}

export const stripWhitespace = (text: string): string => text.replace(/\s+/g, '')
const createPattern = (forms: string[]): RegExp =>
  new RegExp(forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') || '(?!)', 'gi')

function listEncodings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const escaped = JSON.stringify(secret).slice(1, -1)
  // Base64 of a secret inside a longer text starts at one of three offsets; characters that depend on neighbors are cut off.
  const shiftedForms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const from = Math.ceil((shift * 4) / 3)
    const to = text.length - ((bytes.length + shift) % 3 === 0 ? 0 : 1)
    return text.slice(from, to)
  })
  const base64 = shiftedForms.filter((text) => text.length >= 8)
  return [
    secret,
    encodeURIComponent(secret),
    escaped,
    // For example a JSON log that contains a dump of the environment.
    JSON.stringify(escaped).slice(1, -1),
    bytes.toString('hex'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}
