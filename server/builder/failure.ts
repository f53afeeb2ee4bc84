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
const stepNames: Record<FailedStep, string> = { install: 'Installing packages', build: 'The build', start: 'The app' }
const stepCodes: Record<FailedStep, FailureCode> = { install: 'install_failed', build: 'build_failed', start: 'start_failed' }

/**
 * Says in plain words why a step failed, from the last lines of its log (already masked: what they hold goes into the
 * answer) and its exit code. Pure.
 */
export function explainFailure(lines: string[], step: FailedStep, exitCode: number | null = null): FailureExplanation {
  const plain = lines.slice(-linesRead).map((line) =>
    stripVTControlCharacters(line)
      .replace(/^.*\r(?=.)/, '')
      .trim()
      .slice(0, longestLine),
  )
  for (const { pattern, message, hint, code } of failurePatterns) {
    for (const line of plain) {
      const match = pattern.exec(line)
      if (!match) continue
      return {
        code: code ?? stepCodes[step],
        message: `${stepNames[step]} failed: ${startSmall(fill(message, match))}`,
        hint: fill(hint, match).replace(' ()', ''),
        line,
      }
    }
  }
  if (exitCode === 137) {
    return {
      code: 'out_of_memory',
      message: `${stepNames[step]} was killed, most likely because it used more memory than it may.`,
      hint: 'Raise the project’s memory limit, or make the build smaller.',
    }
  }
  const line = lastWord(plain)
  const ended = exitCode === null ? 'failed' : `failed with exit code ${exitCode}`
  return {
    code: stepCodes[step],
    message: `${stepNames[step]} ${ended}${line ? `: ${line}` : '.'}`,
    hint: 'The log of the step says more.',
    ...(line ? { line } : {}),
  }
}

/** The last line that looks like a reason: tools end with pointers to log files and lists of frames. */
function lastWord(lines: string[]): string | undefined {
  const telling = lines.filter(
    (line) =>
      line !== '' &&
      !/^(npm (error|ERR!) (A complete log|path|command|workspace|location|Lifecycle|code ELIFECYCLE|errno)|at .+|info Visit|node:internal|Node\.js v|\{|\}|\^+$)/i.test(
        line,
      ),
  )
  return telling.findLast((line) => /error|fail|cannot|invalid|not found/i.test(line)) ?? telling.at(-1)
}

const fill = (text: string, match: RegExpExecArray): string =>
  text
    .replace(/\$(\d)/g, (_, number: string) => match[Number(number)] ?? '')
    .replace(/:? +([.,])(?=\s|$)/g, '$1')
    .replace(/: \.$/, '.')

/** Sentences of the table start large; here they follow a colon. Names keep their capitals. */
const startSmall = (text: string): string => (/^(A|An|The|Two|There|It|This)\b/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text)
