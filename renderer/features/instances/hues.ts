/** Colours that are told apart, and from the blue of the instance at home. The word is for those who do not see them. */
export const hues = [
  { hue: 300, label: 'Violet' },
  { hue: 60, label: 'Amber' },
  { hue: 195, label: 'Teal' },
  { hue: 345, label: 'Pink' },
  { hue: 150, label: 'Green' },
  { hue: 25, label: 'Red' },
  { hue: 110, label: 'Olive' },
] as const

/** The first that nobody has yet, else the one that is used the least. */
export function leastUsedHue(taken: readonly number[]): number {
  const uses = hues.map(({ hue }) => ({ hue, count: taken.filter((one) => one === hue).length }))
  return uses.toSorted((a, b) => a.count - b.count)[0]?.hue ?? hues[0].hue
}
