/** Every encoding of a secret: plain, JSON, percent-encoded in four ways, base64 at each of its three offsets and base64url. */
export function encodingsOf(secret: string): string[] {
  const percent = [encodeURIComponent(secret), encodeURI(secret), new URLSearchParams({ s: secret }).toString().slice(2)]
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.from('\0'.repeat(before) + secret)
      .toString('base64')
      .replace(/=+$/, '')
    return text.slice(before === 0 ? 0 : 4, -1)
  })
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      ...percent,
      ...percent.map((text) => text.replace(/%../g, (one) => one.toLowerCase())),
      ...base64,
      ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ]
}
