/**
 * The build log of one step of a deployment. Calls are cheap: lines are masked, numbered, batched and stored asynchronously. A line has no line
 * break; ANSI codes and carriage returns are kept.
 */
export interface StepLog {
  /** A line printed by a tool. */
  line(stream: 'stdout' | 'stderr', line: string): void
  /** A message of Homeport itself. */
  note(line: string): void
}
