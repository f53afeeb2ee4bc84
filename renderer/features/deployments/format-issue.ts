import { stepLabels } from '../../../server/contract/labels.ts'
import type { DeploymentDetail } from '../../../server/contract/deployments.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import { stripAnsi } from '../../lib/ansi.ts'
import { frameworkName } from '../../lib/frameworks.ts'

/** A failure as Markdown for an issue: what failed, where, and the lines of the log. The log has no values of variables. */
export function formatIssue(deployment: DeploymentDetail, excerpt: readonly { number: number; text: string }[]): string {
  const { error, steps, framework, runtime, commit_sha, branch, id, number } = deployment
  if (error === null) return ''
  const failedStep = steps.find(({ status }) => status === 'failed')?.name
  const facts = [
    ['Code', error.code],
    ['Step', failedStep && stepLabels[failedStep]],
    ['Framework', framework && frameworkName(framework)],
    ['Runtime', findRuntimeTraits(runtime)?.label ?? runtime],
    ['Commit', commit_sha && `${commit_sha}${branch === null ? '' : ` (${branch})`}`],
    ['Deployment', number === undefined ? id : `#${number} (${id})`],
  ].flatMap(([name, value]) => (value ? [`- ${name}: ${value}`] : []))
  const lines = excerpt.map(({ number, text }) => `${number}  ${stripAnsi(text)}`)
  // A longer fence than any in the log.
  const fence = '`'.repeat(Math.max(3, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length + 1))))
  return [`**${error.message}**`, error.hint, facts.join('\n'), ...(lines.length > 0 ? [[fence, ...lines, fence].join('\n')] : [])].join('\n\n')
}
