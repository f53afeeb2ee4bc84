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

const maxLines = 400
const maxLineLength = 500
const maxShownLines = 5
const maxShownLength = 200
const stepFailureCodes: Record<FailedStep, FailureCode> = { install: 'install_failed', build: 'build_failed', start: 'start_failed' }

/**
 * Says in plain words why a step failed, from the last lines of its log (already masked: what they hold goes into the
 * answer). `ended` is what the command itself says of its end: a pattern adds the cause to it, else the last lines are shown. Pure.
 */
export function explainFailure(lines: string[], step: FailedStep, failure: Omit<FailureExplanation, 'line'>): FailureExplanation {
  const plainLines = removeSourceExcerpts(
    lines.slice(-maxLines).map((line) =>
      stripVTControlCharacters(line)
        .replace(/^.*\r(?=.)/, '')
        .trim()
        .slice(0, maxLineLength),
    ),
  )
  for (const { pattern, message, hint, code } of failurePatterns) {
    for (const line of plainLines) {
      const match = pattern.exec(line)
      if (!match) continue
      return {
        code: code ?? stepFailureCodes[step],
        message: `${failure.message} ${fillTemplate(message, match)}`,
        hint: fillTemplate(hint, match).replace(' ()', ''),
        line,
      }
    }
  }
  const output = selectRelevantLines(plainLines).slice(-maxShownLines)
  if (output.length === 0) return failure
  const shownLines = output.map((line) => (line.length > maxShownLength ? `${line.slice(0, maxShownLength)}…` : line))
  return { ...failure, hint: `${failure.hint} Its last output:\n${shownLines.join('\n')}` }
}

/** Without the lines of source that Node shows above a mark: they hold the words of the error, and are not the error. */
const removeSourceExcerpts = (lines: string[]): string[] => lines.filter((_, index) => !/^\^+$/.test(lines[index + 1] ?? ''))

/** Without what tools add: headings of steps in a Dockerfile, and at the end pointers to log files and lists of frames. */
const selectRelevantLines = (lines: string[]): string[] =>
  lines.filter(
    (line) =>
      line !== '' &&
      !/^(CACHED )?\[([\w.-]+ )? *\d+\/\d+\] [A-Z]+ /.test(line) &&
      !/^(npm (error|ERR!) (A complete log|path|command|workspace|location|Lifecycle|code ELIFECYCLE|errno)|at .+|info Visit|node:internal|Node\.js v|\{|\}|\^+$)/i.test(
        line,
      ),
  )

const fillTemplate = (text: string, match: RegExpExecArray): string =>
  text
    .replace(/\$(\d)/g, (_, number: string) => match[Number(number)] ?? '')
    .replace(/:? +([.,])(?=\s|$)/g, '$1')
    .replace(/: \.$/, '.')
