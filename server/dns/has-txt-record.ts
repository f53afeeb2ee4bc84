import { Resolver } from 'node:dns/promises'

/** Whether a TXT record of a name has this value, as these resolvers see it; null: those of the system. */
export async function hasTxtRecord(resolvers: readonly string[] | null, name: string, value: string): Promise<boolean> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (resolvers !== null) resolver.setServers(resolvers)
  const records = await resolver.resolveTxt(name).catch(() => [])
  return records.some((parts) => parts.join('') === value)
}
