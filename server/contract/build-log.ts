import type { StepName } from './deployments.ts'

/**
 * The build log, to which every step of a deployment writes. Calls are cheap: lines are masked, numbered, batched and stored
 * asynchronously. A line has no line break; ANSI codes and carriage returns are kept.
 */
export interface BuildLog {
  /** A line printed by a tool. */
  line(step: StepName, stream: 'stdout' | 'stderr', line: string): void
  /** A message of Homeport itself. */
  note(step: StepName, line: string): void
  /** Starts a step and marks the previous one as done. */
  step(name: StepName): void
  /** Marks a step as skipped. */
  skip(name: StepName): void
}
