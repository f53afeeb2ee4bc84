import { until } from './until.ts'

/** Repeats a request until there were this many different answers; returns them in order. */
export async function collectText(read: () => Promise<string>, count: number): Promise<string[]> {
  const answers = new Set<string>()
  await until(
    async () => {
      answers.add(await read())
      return answers.size >= count || undefined
    },
    { what: `${count} different answers`, every_ms: 5 },
  )
  return [...answers].toSorted()
}
