import { ApiError } from '../api-error.ts'

/** The result for one part of a project. */
export interface PromotionReportLine {
  /** Such as `Redis` or `Volume uploads`. */
  item: string
  /** `kept`: the target already has it, and it was left unchanged. */
  outcome: 'copied' | 'kept' | 'not_copied'
  /** The reason, and what to do. */
  note: string
}

export const reportOutcomeLabels: Record<PromotionReportLine['outcome'], string> = {
  copied: 'Copied',
  kept: 'Kept',
  not_copied: 'Not copied',
}

const unsupportedCodes = new Set(['route_not_found', 'method_not_allowed', 'not_found', 'bad_answer'])

/** Whether an instance has no such operation: an earlier version, or a hosted account. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 405) && unsupportedCodes.has(error.code)

/** Adds a line, replacing an earlier one for the same part. */
export function putReportLine(report: readonly PromotionReportLine[], line: PromotionReportLine): PromotionReportLine[] {
  return [...report.filter(({ item }) => item !== line.item), line]
}
