import { coerce, parse, prerelease } from 'semver'
import type { FailureCode } from '../contract/deployments.ts'
import { BuildFailure } from './runtime.ts'

type FetchErrorCause = 'name' | 'network' | 'certificate' | 'registry'

/** Error messages of npm and Docker; the first match is used. */
const causePatterns: [FetchErrorCause, RegExp][] = [
  ['certificate', /x509|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|certificate/],
  [
    'network',
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|no such host|connection refused|i\/o timeout|(?:TLS handshake|Client\.)[Tt]imeout|network is unreachable|server misbehaving|proxyconnect/,
  ],
  ['registry', /E401|E403|E429|E5\d\d|toomanyrequests|unauthorized|denied: .*|(?:50[0234]|429) [A-Z][\w ]+/],
  ['name', /ETARGET|E404|No matching version|manifest unknown|pull access denied|does not exist|not found/],
]

/** Classifies why a fetch failed, by the error message of the tool. */
export function classifyFetchError(error: unknown): { cause: FetchErrorCause; words: string } | undefined {
  const text = error instanceof Error ? error.message : String(error)
  // A missing image and an image without access have the same error.
  const isUnknownImage = /pull access denied|repository does not exist|insufficient_scope/.test(text)
  for (const [cause, pattern] of causePatterns) {
    const words = pattern.exec(text)?.[0]
    if (words !== undefined && !(cause === 'registry' && isUnknownImage)) return { cause, words: words.slice(0, 80) }
  }
  return undefined
}

/** The version closest to the requested one; of two equally close versions, the newer. */
export function findNearestVersion(requested: string, available: string[]): string | undefined {
  const target = coerce(requested)
  if (!target) return undefined
  const distances = available.flatMap((version) => {
    const parsed = parse(version) ?? coerce(version)
    if (!parsed || prerelease(version)) return []
    return [{ version, one: parsed, distance: (['major', 'minor', 'patch'] as const).map((part) => Math.abs(parsed[part] - target[part])) }]
  })
  distances.sort((a, b) => {
    const difference = a.distance.map((value, index) => value - (b.distance[index] ?? 0)).find((value) => value !== 0)
    return difference ?? b.one.compare(a.one)
  })
  return distances[0]?.version
}

/**
 * The failure of a fetch, with its cause. `what` is a name with its version, `registry` the registry that was used, `remedy` a hint for this cause:
 * the nearest version that exists or that is on this machine.
 */
export function createUnavailableFailure(
  code: FailureCode,
  { what: subject, registry, error, remedy }: { what: string; registry: string; error: unknown; remedy: string },
): BuildFailure {
  const found = classifyFetchError(error)
  const [message, hint] = {
    name: [`${subject} does not exist in ${registry}, or requires signing in.`, 'Check the name and the version.'],
    network: [
      `${subject} is not on this machine, and ${registry} could not be reached (${found?.words}).`,
      'Check the network and the proxy, then deploy again.',
    ],
    certificate: [
      `${subject} is not on this machine, and the certificate of ${registry} is not trusted (${found?.words}).`,
      'If your network uses its own certificate authority, configure Homeport and Docker with its certificate.',
    ],
    registry: [
      `${subject} is not on this machine, and ${registry} denied access (${found?.words}).`,
      'Sign in to the registry, or try again later if you reached a rate limit.',
    ],
    unknown: [`${subject} could not be fetched from ${registry}.`, 'Check that this version exists and that the registry can be reached.'],
  }[found?.cause ?? 'unknown'] as [string, string]
  return new BuildFailure(code, message, `${hint} ${remedy}`.trim(), error)
}
