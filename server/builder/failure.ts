import { stripVTControlCharacters } from 'node:util'
import type { FailureCode } from '../contract/deployments.ts'
import { failurePatterns } from './failure-patterns.ts'

export type FailedStep = 'install' | 'build' | 'start'

/** `line` is the line of the log that says it, without colours; absent when none does. */
export interface FailureExplanation {
  code: FailureCode
  message: string
  hint: string
  line?: string
}

const linesRead = 400
const longestLine = 500
const linesShown = 5
const longestShown = 200
const stepCodes: Record<FailedStep, FailureCode> = { install: 'install_failed', build: 'build_failed', start: 'start_failed' }

/**
 * Says in plain words why a step failed, from the last lines of its log (already masked: what they hold goes into the
 * answer). `ended` is what the command itself says of its end: a pattern adds the cause to it, else the last lines are shown. Pure.
 */
export function explainFailure(lines: string[], step: FailedStep, ended: Omit<FailureExplanation, 'line'>): FailureExplanation {
  const plain = withoutExcerpts(
    lines.slice(-linesRead).map((line) =>
      stripVTControlCharacters(line)
        .replace(/^.*\r(?=.)/, '')
        .trim()
        .slice(0, longestLine),
    ),
  )
  for (const { pattern, message, hint, code } of failurePatterns) {
    for (const line of plain) {
      const match = pattern.exec(line)
      if (!match) continue
      return {
        code: code ?? stepCodes[step],
        message: `${ended.message} ${fill(message, match)}`,
        hint: fill(hint, match).replace(' ()', ''),
        line,
      }
    }
  }
  const output = telling(plain).slice(-linesShown)
  if (output.length === 0) return ended
  const shown = output.map((line) => (line.length > longestShown ? `${line.slice(0, longestShown)}…` : line))
  return { ...ended, hint: `${ended.hint} Its last output:\n${shown.join('\n')}` }
}

/** Without the lines of source that Node shows above a mark: they hold the words of the error, and are not the error. */
const withoutExcerpts = (lines: string[]): string[] => lines.filter((_, index) => !/^\^+$/.test(lines[index + 1] ?? ''))

/** Without what tools add: headings of steps in a Dockerfile, and at the end pointers to log files and lists of frames. */
const telling = (lines: string[]): string[] =>
  lines.filter(
    (line) =>
      line !== '' &&
      !/^(CACHED )?\[([\w.-]+ )? *\d+\/\d+\] [A-Z]+ /.test(line) &&
      !/^(npm (error|ERR!) (A complete log|path|command|workspace|location|Lifecycle|code ELIFECYCLE|errno)|at .+|info Visit|node:internal|Node\.js v|\{|\}|\^+$)/i.test(
        line,
      ),
  )

const fill = (text: string, match: RegExpExecArray): string =>
  text
    .replace(/\$(\d)/g, (_, number: string) => match[Number(number)] ?? '')
    .replace(/:? +([.,])(?=\s|$)/g, '$1')
    .replace(/: \.$/, '.')
