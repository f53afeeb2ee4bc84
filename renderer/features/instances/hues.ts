/** Frame colors that are distinguishable from each other and from the blue of the local instance. The label is for screen readers. */
export const hues = [
  { hue: 300, label: 'Violet' },
  { hue: 60, label: 'Amber' },
  { hue: 195, label: 'Teal' },
  { hue: 345, label: 'Pink' },
  { hue: 150, label: 'Green' },
  { hue: 25, label: 'Red' },
  { hue: 110, label: 'Olive' },
] as const

/** The first unused hue, otherwise the least used one. */
export function leastUsedHue(taken: readonly number[]): number {
  const uses = hues.map(({ hue }) => ({ hue, count: taken.filter((one) => one === hue).length }))
  return uses.toSorted((a, b) => a.count - b.count)[0]?.hue ?? hues[0].hue
}
