import { ApiError } from '../../server/client/api-error.ts'

/** Any thrown value as an ApiError with a sentence for the user. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError('bad_answer', 'The dashboard hit an unexpected error. Reload the page. If the error persists, check the Homeport log.', {
    cause: error,
  })
}

export function unreachableError(cause: unknown): ApiError {
  return new ApiError('unreachable', 'Homeport is not responding. It may be starting or stopped. Start it with “homeport serve”.', { cause })
}
