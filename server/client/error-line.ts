import type { DeploymentDetail, DeploymentFailure } from '../contract/deployments.ts'

interface OutputLine {
  text: string
  source: string
  /** The step. */
  group: string | null
}

const errorPattern = /\b(error|errno|fatal|failed|failure|cannot|could not|not found|unexpected|exception|ERR!|ELIFECYCLE)\b/i
// Summary lines that tools print about themselves. They do not locate the error.
const trailerPattern =
  /A complete log of this run|npm ERR! code|npm error (code|path|command|A complete|Lifecycle|workspace|location|errno)|Exit status|exited with code|ELIFECYCLE|^\s*at /
const maxSearchedLines = 400
// Minimum length of a quoted line; shorter quotes match by chance.
const maxQuoteLength = 500
const minQuoteLength = 12

/**
 * The error line in the log of a deployment, with surrounding lines. The line that the failure message quotes takes precedence, so that message and
 * excerpt agree. `strip` removes colors.
 */
export function findErrorLine<Line extends OutputLine>(
  lines: readonly Line[],
  { steps, error }: Pick<DeploymentDetail, 'steps' | 'error'>,
  strip: (text: string) => string,
): { line: Line; context: Line[] } | null {
  const textOf = ({ text }: OutputLine): string => strip(text)
  const trimmedText = (line: OutputLine): string => textOf(line).trim()
  const failedStep = steps.find((step) => step.status === 'failed')?.name
  if (failedStep === undefined) return null
  // Output of an app during start and health check belongs to the start step.
  const group = failedStep === 'health_check' || failedStep === 'route' ? 'start' : failedStep
  const output = lines.filter((line) => line.group === group && line.source !== 'system' && trimmedText(line) !== '').slice(-maxSearchedLines)
  const candidates = output.filter((line, index) => !trailerPattern.test(textOf(line)) && !isCaret(trimmedText(output[index + 1] ?? line)))
  const errorLines = candidates.filter((line) => errorPattern.test(textOf(line)))
  const line =
    output.find((one) => isQuoted(trimmedText(one), error)) ??
    errorLines.find(({ source }) => source === 'stderr') ??
    errorLines[0] ??
    candidates.findLast(({ source }) => source === 'stderr') ??
    candidates.at(-1) ??
    output.at(-1)
  if (!line) return null
  // “Error:” and “error during build:” are headings; the error is on the next line.
  const target = trimmedText(line).endsWith(':') ? (output[output.indexOf(line) + 1] ?? line) : line
  const at = output.indexOf(target)
  return { line: target, context: output.slice(Math.max(0, at - 2), at + 4) }
}

function isQuoted(text: string, error: DeploymentFailure | null): boolean {
  return error !== null && text.length >= minQuoteLength && error.message.includes(text.slice(0, maxQuoteLength))
}

/** Node prints the source above a caret and the error only after it. */
const isCaret = (text: string): boolean => /^\^+$/.test(text)
