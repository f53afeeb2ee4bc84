/** Result of a purge, for a toast. */
export function purgeSummary({ purged: count }: { purged: number }): string {
  return count === 0
    ? 'Nothing to purge: no matching responses were stored.'
    : `Purged ${count.toLocaleString()} stored ${count === 1 ? 'response' : 'responses'}.`
}
