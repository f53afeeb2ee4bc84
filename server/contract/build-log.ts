import type { StepName } from './deployments.ts'

/**
 * Where every step of a deployment writes. Cheap to call a hundred thousand times; lines are masked, numbered,
 * batched and stored behind it. A line has no line end; ANSI codes and carriage returns stay in it.
 */
export interface BuildLog {
  /** What a tool printed. */
  line(step: StepName, stream: 'stdout' | 'stderr', line: string): void
  /** What Homeport itself has to say. */
  note(step: StepName, line: string): void
  /** Opens a step, which closes the one before as done. */
  step(name: StepName): void
  /** Marks a step as not needed. */
  skip(name: StepName): void
}
