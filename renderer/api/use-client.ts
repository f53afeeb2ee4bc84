import { useConnection } from '../stores/connection.ts'

export function useClient() {
  return useConnection((state) => state.current.client)
}

/** For data that no event reports. Polled while the page is visible. */
export const pollInterval_ms = 15_000
