const setCookieNotStored = 'An answer that sets a cookie is never stored (threats T9): what one visitor is handed must not go to the next.'
const serverErrorNotStored =
  'An answer of 5xx (but 501) is never stored (threats T9), whatever it says: an app that is well again must not go on looking broken.'
const buildsOnServerError = `It passes by itself, but builds on a stored 5xx. ${serverErrorNotStored}`
const ageParsing =
  'This version of the suite wants every Age that is a list or no number to be stale. RFC 9111 §5.1 takes the first member, and ignores what is no number; so does the suite in its repository by now.'
const closedConnection =
  'The suite takes for "from the cache" whatever does not bear its own count. An app that hangs up is answered by our own 502 (R25), as nobody else could answer, and that has none.'
const invalidRange =
  'The range of the answer (bytes 4-9) is not as long as its body (5 bytes): it is kept as the bytes that came, and its last byte is not among them.'

/** Tests of the suite that do not pass, with the reason. The suite fails if a test in this list passes. */
export const knownFailures: Record<string, string> = {
  'age-parse-dup-0': ageParsing,
  'age-parse-dup-0-twoline': ageParsing,
  'age-parse-dup-old': ageParsing,
  'age-parse-float': ageParsing,
  'age-parse-negative': ageParsing,
  'age-parse-nonnumeric': ageParsing,
  'age-parse-numeric-parameter': ageParsing,
  'age-parse-parameter': ageParsing,
  'age-parse-prefix-twoline': ageParsing,
  'stale-close-must-revalidate': closedConnection,
  'stale-close-proxy-revalidate': closedConnection,
  'stale-close-no-cache': closedConnection,
  'stale-close-s-maxage=2': closedConnection,
  'headers-store-Set-Cookie': setCookieNotStored,
  '304-etag-update-response-Set-Cookie': setCookieNotStored,
  'other-set-cookie': setCookieNotStored,
  'headers-store-Transfer-Encoding': 'The app sends a transfer coding that there is none of: such an answer is refused with 502 (threats T10).',
  'heuristic-599-cached': serverErrorNotStored,
  'status-500-fresh': serverErrorNotStored,
  'status-502-fresh': serverErrorNotStored,
  'status-503-fresh': serverErrorNotStored,
  'status-504-fresh': serverErrorNotStored,
  'status-599-fresh': serverErrorNotStored,
  'status-500-stale': buildsOnServerError,
  'status-502-stale': buildsOnServerError,
  'status-503-stale': buildsOnServerError,
  'status-504-stale': buildsOnServerError,
  'status-599-stale': buildsOnServerError,
  'status-599-must-understand': buildsOnServerError,
  'conditional-lm-fresh-no-lm':
    'It wants 304 though the answer is newer than If-Modified-Since says: without Last-Modified its Date counts (RFC 9111, 4.3.2), and that is later.',
  'partial-store-partial-reuse-partial-suffix': invalidRange,
  'partial-store-partial-complete': 'Parts are not completed to a whole: the app is asked for the whole, which is right as well.',
}
