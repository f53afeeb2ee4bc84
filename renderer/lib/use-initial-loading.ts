import { useState } from 'react'

/**
 * Whether parts that are drawn together still wait for one another. They do so once: a part that failed, and is asked again because
 * it is on the page now, takes none of the others away.
 */
export function useInitialLoading(queries: readonly { isLoading: boolean }[]): boolean {
  const [hasLoaded, setLoaded] = useState(false)
  const isLoading = queries.some(({ isLoading }) => isLoading)
  if (!isLoading && !hasLoaded) setLoaded(true)
  return isLoading && !hasLoaded
}
