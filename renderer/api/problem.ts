import type { ErrorCode, ErrorEnvelope, Issue } from '../../server/contract/errors.ts'

/** Why a call did not succeed, in the words of the platform; or `unreachable` and `bad_answer`, which only a client can see. */
export class ApiProblem extends Error {
  readonly code: ErrorCode | 'unreachable' | 'bad_answer'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly issues: Issue[]
  readonly request_id: string | null
  readonly retry_after_s: number | null

  constructor(
    code: ApiProblem['code'],
    message: string,
    more: { status?: number; issues?: Issue[] | undefined; request_id?: string | null; retry_after_s?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'ApiProblem'
    this.code = code
    this.status = more.status ?? 0
    this.issues = more.issues ?? []
    this.request_id = more.request_id ?? null
    this.retry_after_s = more.retry_after_s ?? null
  }

  /** What the platform says about one field of a form. */
  issue(path: string): string | undefined {
    return this.issues.find((issue) => issue.path === path)?.message
  }
}

/** Reads the envelope of an answer that is no success. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const about = {
    status: response.status,
    request_id: response.headers.get('x-request-id'),
    retry_after_s: Number.isFinite(retryAfter) ? retryAfter : null,
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (!isEnvelope(body)) return new ApiProblem('bad_answer', `The platform answered ${response.status} without an explanation. Try again.`, about)
  return new ApiProblem(body.error, body.message, { ...about, issues: body.issues })
}

export function problemFrom(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  return new ApiProblem(
    'bad_answer',
    'The dashboard stumbled over something unexpected. Reload the page; if it stays, look at the log of the platform.',
    { cause: error },
  )
}

export function unreachable(cause: unknown): ApiProblem {
  return new ApiProblem('unreachable', 'The platform does not answer. It may be starting, or it was stopped; start it with “homeport serve”.', {
    cause,
  })
}

function isEnvelope(body: unknown): body is ErrorEnvelope {
  return (
    typeof body === 'object' &&
    body !== null &&
    'error' in body &&
    typeof body.error === 'string' &&
    'message' in body &&
    typeof body.message === 'string'
  )
}
