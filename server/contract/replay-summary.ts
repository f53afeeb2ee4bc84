import { type BodyComparison, compareBodies, diffHeaders, type HeaderChange } from './json-diff.ts'
import type { OriginalResponse, ReplayedResponse } from './request-captures.ts'

/** How two responses to a request differ, for the dashboard, the command line and agents. */
export interface ReplayComparison {
  is_same: boolean
  is_same_status: boolean
  headers: HeaderChange[]
  body: BodyComparison
}

export function compareResponses(original: OriginalResponse, replayed: ReplayedResponse): ReplayComparison {
  const headers = diffHeaders(original.headers, replayed.headers)
  const body = compareBodies(original, replayed)
  const is_same_status = original.status === replayed.status
  return { is_same: is_same_status && headers.length === 0 && body.kind === 'same', is_same_status, headers, body }
}
