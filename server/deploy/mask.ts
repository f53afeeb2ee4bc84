/** Hides secret values in a line, however they are written: plain, percent-encoded, base64, hex, JSON-escaped once or twice. */
export type Mask = (line: string) => string

const shortestSecret = 6

export function createMask(secrets: Iterable<string>): Mask {
  const forms = new Set<string>()
  for (const secret of secrets)
    for (const part of [secret, ...secret.split(/\r?\n/)]) if (part.length >= shortestSecret) for (const form of formsOf(part)) forms.add(form)
  if (forms.size === 0) return (line) => line
  // Longest first, so that a secret which holds another one is hidden whole.
  const sorted = [...forms].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(sorted.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g')
  return (line) => line.replace(pattern, '••••••')
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const escaped = JSON.stringify(secret).slice(1, -1)
  // Base64 of a secret inside a longer text begins at one of three places; the ends that depend on neighbours are cut off.
  const shifted = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const from = Math.ceil((shift * 4) / 3)
    const to = text.length - ((bytes.length + shift) % 3 === 0 ? 0 : 1)
    return text.slice(from, to)
  })
  const base64 = shifted.filter((text) => text.length >= 8)
  return [
    secret,
    encodeURIComponent(secret),
    escaped,
    // As when a log that is JSON itself holds a dump of the environment.
    JSON.stringify(escaped).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}
