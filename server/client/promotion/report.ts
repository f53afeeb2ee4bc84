import { ApiError } from '../api-error.ts'

/** What became of one thing of a project. */
export interface PromotionReportLine {
  /** Such as `Redis` or `Volume uploads`. */
  item: string
  /** `kept`: the other side has it already, and it was left as it is. */
  outcome: 'carried' | 'kept' | 'not_carried'
  /** Why, and what to do. */
  note: string
}

export const reportOutcomeLabels: Record<PromotionReportLine['outcome'], string> = {
  carried: 'Copied',
  kept: 'Kept',
  not_carried: 'Not copied',
}

const unsupportedCodes = new Set(['route_not_found', 'method_not_allowed', 'not_found', 'bad_answer'])

/** Whether an instance has no such operation: an earlier version, or a hosted account. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 405) && unsupportedCodes.has(error.code)

/** Adds a line, instead of an earlier one for the same thing. */
export function putReportLine(report: readonly PromotionReportLine[], line: PromotionReportLine): PromotionReportLine[] {
  return [...report.filter(({ item }) => item !== line.item), line]
}
