import type { Step } from '../../../server/contract/deployments.ts'
import type { LogLine } from '../logs/log-store.ts'
import { plainText } from '../logs/terminal-line.ts'

const looksWrong = /\b(error|errno|fatal|failed|failure|cannot|could not|not found|unexpected|exception|ERR!|ELIFECYCLE)\b/i
// What tools say after the fact, about themselves: true, but not where it went wrong.
const afterthought =
  /A complete log of this run|npm ERR! code|npm error (code|path|command|A complete)|Exit status|exited with code|ELIFECYCLE|^\s*at /
const searched = 400

/** The line where a build went wrong, as far as its log tells, and what stands around it. */
export function findFault(lines: readonly LogLine[], steps: Step[]): { line: LogLine; around: LogLine[] } | null {
  const failed = steps.find((step) => step.status === 'failed')?.name
  if (failed === undefined) return null
  const said = lines.filter((line) => line.group === failed && line.source !== 'system' && plainText(line.text).trim() !== '').slice(-searched)
  const line =
    said.find((one) => isFault(one) && one.source === 'stderr') ??
    said.find(isFault) ??
    said.findLast(({ source }) => source === 'stderr') ??
    said.at(-1)
  if (!line) return null
  // “Error:” and “error during build:” announce; what they announce is on the next line.
  const announced = /:\s*$/.test(plainText(line.text)) ? (said[said.indexOf(line) + 1] ?? line) : line
  const at = said.indexOf(announced)
  return { line: announced, around: said.slice(Math.max(0, at - 2), at + 4) }
}

function isFault(line: LogLine): boolean {
  const text = plainText(line.text)
  return looksWrong.test(text) && !afterthought.test(text)
}
