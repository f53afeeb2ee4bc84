/** Colours that are told apart, and from the blue of the instance at home. The word is for those who do not see them. */
export const hues = [
  { hue: 300, word: 'Violet' },
  { hue: 60, word: 'Amber' },
  { hue: 195, word: 'Teal' },
  { hue: 345, word: 'Pink' },
  { hue: 150, word: 'Green' },
  { hue: 25, word: 'Red' },
  { hue: 110, word: 'Olive' },
] as const

/** The first that nobody has yet, else the one that is used the least. */
export function freeHue(taken: readonly number[]): number {
  const uses = hues.map(({ hue }) => ({ hue, count: taken.filter((one) => one === hue).length }))
  return uses.toSorted((a, b) => a.count - b.count)[0]?.hue ?? hues[0].hue
}
