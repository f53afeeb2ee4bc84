import { stripVTControlCharacters } from 'node:util'
import type { FailureCode } from '../contract/deployments.ts'
import { failurePatterns } from './failure-patterns.ts'

export type FailedStep = 'install' | 'build' | 'start'

/** `line` is the log line that shows the cause, without colors; absent when no line does. */
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
 * Explains why a step failed, based on the last lines of its log. The lines must be masked already, because the explanation quotes them. `failure`
 * describes how the command ended: a matching pattern adds the cause to its message; without a match the last lines are quoted in the hint. Pure.
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
  return { ...failure, hint: `${failure.hint} Last output:\n${shownLines.join('\n')}` }
}

/** Removes the source lines that Node prints above a `^` marker, because they can contain the text of an error without being one. */
const removeSourceExcerpts = (lines: string[]): string[] => lines.filter((_, index) => !/^\^+$/.test(lines[index + 1] ?? ''))

/** Removes lines that tools add: headings of Dockerfile steps, pointers to log files, and stack frames. */
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
