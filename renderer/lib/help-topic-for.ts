import type { DeploymentFailure } from '../../server/contract/deployments.ts'
import { type HelpTopic, errorHelpTopics, failureHelpTopics } from '../../server/contract/help.ts'
import type { ApiError } from '../../server/client/api-error.ts'

/** The help topic of an error, or null if its message is sufficient. Unknown codes have none. */
export function helpTopicForError(code: ApiError['code']): HelpTopic | null {
  if (code === 'unreachable') return 'trouble'
  if (code === 'bad_answer') return null
  return Object.hasOwn(errorHelpTopics, code) ? errorHelpTopics[code] : null
}

/** Topics that depend on the failure message rather than the code. */
const failurePatterns: [RegExp, HelpTopic][] = [
  [/variable is missing/, 'environment'],
  [
    /registry|certificate of a server|hostname could not be resolved|network connection failed|download a font|does not match its checksum/,
    'offline',
  ],
  [/disk is full/, 'disk'],
  [/ran out of memory|memory limit/, 'memory'],
  [/listens on the fixed port|not allowed to listen on port/, 'health-check'],
]

export function helpTopicForFailure({ code, message }: Pick<DeploymentFailure, 'code' | 'message'>): HelpTopic | null {
  const match = failurePatterns.find(([pattern]) => pattern.test(message))
  return match?.[1] ?? (Object.hasOwn(failureHelpTopics, code) ? failureHelpTopics[code] : null)
}
