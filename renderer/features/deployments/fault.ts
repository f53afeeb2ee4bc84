import type { DeploymentDetail, Failure } from '../../../server/contract/deployments.ts'
import type { LogLine } from '../logs/log-store.ts'
import { plainText } from '../logs/terminal-line.ts'

const looksWrong = /\b(error|errno|fatal|failed|failure|cannot|could not|not found|unexpected|exception|ERR!|ELIFECYCLE)\b/i
// What tools say after the fact, about themselves: true, but not where it went wrong.
const afterthought =
  /A complete log of this run|npm ERR! code|npm error (code|path|command|A complete|Lifecycle|workspace|location|errno)|Exit status|exited with code|ELIFECYCLE|^\s*at /
const searched = 400
// The platform quotes so much of a line; a shorter one than that is part of many a sentence by chance.
const longestQuote = 500
const shortestQuote = 12

/**
 * The line where a deployment went wrong, as far as its log tells, and the lines around it. The line that the failure quotes comes
 * first, so that the sentence and the excerpt say the same.
 */
export function findFault(
  lines: readonly LogLine[],
  { steps, error }: Pick<DeploymentDetail, 'steps' | 'error'>,
): { line: LogLine; around: LogLine[] } | null {
  const failed = steps.find((step) => step.status === 'failed')?.name
  if (failed === undefined) return null
  // What an app prints while it starts and is checked belongs to its start.
  const group = failed === 'health_check' || failed === 'route' ? 'start' : failed
  const said = lines.filter((line) => line.group === group && line.source !== 'system' && textOf(line) !== '').slice(-searched)
  const telling = said.filter((line, index) => !afterthought.test(plainText(line.text)) && !isExcerpt(said, index))
  const claims = telling.filter((line) => looksWrong.test(plainText(line.text)))
  const line =
    said.find((one) => isQuoted(one, error)) ??
    claims.find(({ source }) => source === 'stderr') ??
    claims[0] ??
    telling.findLast(({ source }) => source === 'stderr') ??
    telling.at(-1) ??
    said.at(-1)
  if (!line) return null
  // “Error:” and “error during build:” announce; what they announce is on the next line.
  const announced = textOf(line).endsWith(':') ? (said[said.indexOf(line) + 1] ?? line) : line
  const at = said.indexOf(announced)
  return { line: announced, around: said.slice(Math.max(0, at - 2), at + 4) }
}

const textOf = (line: LogLine): string => plainText(line.text).trim()

function isQuoted(line: LogLine, error: Failure | null): boolean {
  const text = textOf(line)
  return error !== null && text.length >= shortestQuote && error.message.includes(text.slice(0, longestQuote))
}

/** Node shows the source above a mark, and only then says what is wrong with it. */
function isExcerpt(said: readonly LogLine[], index: number): boolean {
  return /^\^+$/.test(textOf(said[index + 1] ?? said[index]!))
}
