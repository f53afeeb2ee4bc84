/** Which requests of a project are captured. */
export interface CaptureCriteria {
  /** Milliseconds since 1970. */
  until_ms: number
  /** The start of a path, or a pattern with `*`. null: any, as below. */
  path: string | null
  method: string | null
  /** A status such as `404`, or a class such as `5xx`. */
  status: string | null
  /** Names of headers and fields whose values are not stored. */
  masked_fields: readonly string[]
}

/** What the edge checks of each request while requests of its project are captured. */
export interface CaptureRule extends Pick<CaptureCriteria, 'until_ms' | 'masked_fields'> {
  matchesRequest(request: { method: string; target: string }): boolean
  matchesStatus(status: number): boolean
}

export function createCaptureRule({ until_ms, path, method, status, masked_fields }: CaptureCriteria): CaptureRule {
  const matchesPath = path === null ? undefined : createPathPattern(path)
  const wantedMethod = method?.toUpperCase()
  return {
    until_ms,
    masked_fields,
    matchesRequest: (request) =>
      (wantedMethod === undefined || request.method === wantedMethod) &&
      (matchesPath === undefined || matchesPath(request.target.split('?', 1)[0] ?? '')),
    matchesStatus: (code) => status === null || (/^\d{3}$/.test(status) ? code === Number(status) : Math.floor(code / 100) === Number(status[0])),
  }
}

/** The start of a path, or a pattern with `*`, as the filters of the request log. */
function createPathPattern(pattern: string): (path: string) => boolean {
  if (!pattern.includes('*')) return (path) => path.startsWith(pattern)
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop() ?? ''
  return (path) => {
    if (!path.startsWith(first) || path.length < first.length + last.length || !path.endsWith(last)) return false
    let at = first.length
    for (const part of parts) {
      const found = path.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= path.length - last.length
  }
}
