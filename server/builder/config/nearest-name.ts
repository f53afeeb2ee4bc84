/** The known name that is closest to `name`, if it is close enough to be a typing error. */
export function findNearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.max(1, Math.ceil(name.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const distance = measureDistance(normalize(name), normalize(candidate))
    if (distance < least) {
      least = distance
      nearest = candidate
    }
  }
  return nearest
}

export function explainNearest(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name.slice(0, 60), known)
  if (nearest !== undefined) return `Did you mean ${nearest}?`
  return known.length > 30 ? 'Remove it: homeport help configuration lists what is read.' : `Allowed: ${known.join(', ')}.`
}

const normalize = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** Levenshtein distance. */
function measureDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const change = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
