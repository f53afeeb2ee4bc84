const cookie = 'An answer that sets a cookie is never stored (threats T9): what one visitor is handed must not go to the next.'
const fault = 'An answer of 5xx (but 501) is never stored (threats T9), whatever it says: an app that is well again must not go on looking broken.'
const onFault = `It passes by itself, but builds on a stored 5xx. ${fault}`
const age =
  'This version of the suite wants every Age that is a list or no number to be stale. RFC 9111 §5.1 takes the first member, and ignores what is no number; so does the suite in its repository by now.'
const closed =
  'The suite takes for "from the cache" whatever does not bear its own count. An app that hangs up is answered by our own 502 (R25), as nobody else could answer, and that has none.'
const odd =
  'The range of the answer (bytes 4-9) is not as long as its body (5 bytes): it is kept as the bytes that came, and its last byte is not among them.'

/** Tests of the suite that do not pass, and why that is right. A test that passes must not be here: the list is held to be true. */
export const known: Record<string, string> = {
  'age-parse-dup-0': age,
  'age-parse-dup-0-twoline': age,
  'age-parse-dup-old': age,
  'age-parse-float': age,
  'age-parse-negative': age,
  'age-parse-nonnumeric': age,
  'age-parse-numeric-parameter': age,
  'age-parse-parameter': age,
  'age-parse-prefix-twoline': age,
  'stale-close-must-revalidate': closed,
  'stale-close-proxy-revalidate': closed,
  'stale-close-no-cache': closed,
  'stale-close-s-maxage=2': closed,
  'headers-store-Set-Cookie': cookie,
  '304-etag-update-response-Set-Cookie': cookie,
  'other-set-cookie': cookie,
  'headers-store-Transfer-Encoding': 'The app sends a transfer coding that there is none of: such an answer is refused with 502 (threats T10).',
  'heuristic-599-cached': fault,
  'status-500-fresh': fault,
  'status-502-fresh': fault,
  'status-503-fresh': fault,
  'status-504-fresh': fault,
  'status-599-fresh': fault,
  'status-500-stale': onFault,
  'status-502-stale': onFault,
  'status-503-stale': onFault,
  'status-504-stale': onFault,
  'status-599-stale': onFault,
  'status-599-must-understand': onFault,
  'conditional-lm-fresh-no-lm':
    'It wants 304 though the answer is newer than If-Modified-Since says: without Last-Modified its Date counts (RFC 9111, 4.3.2), and that is later.',
  'partial-store-partial-reuse-partial-suffix': odd,
  'partial-store-partial-complete': 'Parts are not completed to a whole: the app is asked for the whole, which is right as well.',
}
