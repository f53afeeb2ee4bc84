import { useState } from 'react'

/** Whether sections that render together are still waiting for each other. This applies once: a section that fails later does not hide the others. */
export function useInitialLoading(queries: readonly { isLoading: boolean }[]): boolean {
  const [hasLoaded, setLoaded] = useState(false)
  const isLoading = queries.some(({ isLoading }) => isLoading)
  if (!isLoading && !hasLoaded) setLoaded(true)
  return isLoading && !hasLoaded
}
