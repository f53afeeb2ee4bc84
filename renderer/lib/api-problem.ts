import type { ErrorCode, ErrorEnvelope, ValidationIssue } from '../../server/contract/errors.ts'

/** An API error with the message of the platform; `unreachable` and `bad_answer` occur only on the client. */
export class ApiProblem extends Error {
  readonly code: ErrorCode | 'unreachable' | 'bad_answer'
  /** HTTP status; 0 without a response. */
  readonly status: number
  readonly issues: ValidationIssue[]
  readonly request_id: string | null
  readonly retry_after_s: number | null

  constructor(
    code: ApiProblem['code'],
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
    this.name = 'ApiProblem'
    this.code = code
    this.status = details.status ?? 0
    this.issues = details.issues ?? []
    this.request_id = details.request_id ?? null
    this.retry_after_s = details.retry_after_s ?? null
  }

  /** The platform's message for one form field. */
  issueFor(path: string): string | undefined {
    return this.issues.find((issueFor) => issueFor.path === path)?.message
  }
}

/** Parses the error body of a response. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const metadata = {
    status: response.status,
    request_id: response.headers.get('x-request-id'),
    retry_after_s: Number.isFinite(retryAfter) ? retryAfter : null,
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (!isErrorEnvelope(body)) return new ApiProblem('bad_answer', `Homeport returned ${response.status} without an explanation. Try again.`, metadata)
  return new ApiProblem(body.error, body.message, { ...metadata, issues: body.issues })
}

export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  return new ApiProblem('bad_answer', 'The dashboard hit an unexpected error. Reload the page. If the error persists, check the Homeport log.', {
    cause: error,
  })
}

export function unreachableProblem(cause: unknown): ApiProblem {
  return new ApiProblem('unreachable', 'Homeport is not responding. It may be starting or stopped. Start it with “homeport serve”.', {
    cause,
  })
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
