import type { ErrorCode, ErrorEnvelope, ValidationIssue } from '../contract/errors.ts'

/**
 * A failed call, with the message of the instance. Two codes occur only at the client: `unreachable` when nothing responds, `bad_answer` when the
 * response is not one of the API.
 */
export class ApiError extends Error {
  readonly code: ErrorCode | 'unreachable' | 'bad_answer'
  /** HTTP status; 0 without a response. */
  readonly status: number
  readonly issues: ValidationIssue[]
  readonly request_id: string | null
  readonly retry_after_s: number | null

  constructor(
    code: ApiError['code'],
    message: string,
    details: {
      status?: number
      issues?: ValidationIssue[] | undefined
      request_id?: string | null
      retry_after_s?: number | null
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = details.status ?? 0
    this.issues = details.issues ?? []
    this.request_id = details.request_id ?? null
    this.retry_after_s = details.retry_after_s ?? null
  }

  /** The instance's message for one form field. */
  issueFor(path: string): string | undefined {
    return this.issues.find((issue) => issue.path === path)?.message
  }
}

/** The error of a response without success. */
export async function readError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const details = {
    status: response.status,
    request_id: response.headers.get('x-request-id'),
    retry_after_s: Number.isFinite(retryAfter) ? retryAfter : null,
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (!isErrorEnvelope(body)) return new ApiError('bad_answer', `Homeport returned ${response.status} without an explanation. Try again.`, details)
  return new ApiError(body.error, body.message, { ...details, request_id: body.request_id ?? details.request_id, issues: body.issues })
}

function isErrorEnvelope(body: unknown): body is ErrorEnvelope {
  return (
    typeof body === 'object' &&
    body !== null &&
    'error' in body &&
    typeof body.error === 'string' &&
    'message' in body &&
    typeof body.message === 'string'
  )
}
