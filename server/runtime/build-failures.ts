import { BuildFailure, CommandFailure } from './runtime.ts'

/** The sentence for a command that ended badly; the same in both drivers. */
export function createStepFailure(
  step: 'install' | 'build',
  command: string,
  exit: { code: number | null; signal: string | null; out_of_memory: boolean; too_many_processes: boolean; duration_ms: number },
  memory_mb: number,
  max_processes: number,
): BuildFailure {
  // Between words, so that a secret in it stays whole for the one who hides it.
  const shortCommand = command.length > 120 ? `${command.slice(0, 120).replace(/\S*$/, '')}…` : command
  if (exit.out_of_memory) {
    return new BuildFailure(
      'out_of_memory',
      `\`${shortCommand}\` used more than the ${memory_mb} MB of memory that a build may use.`,
      'Make the build need less memory, or give builds more of it.',
    )
  }
  if (exit.too_many_processes) {
    return new BuildFailure(
      `${step}_failed`,
      `\`${shortCommand}\` began more than ${max_processes} processes and was ended.`,
      'Look for a script that starts itself again.',
    )
  }
  const outcome = exit.code === null ? `was ended by ${exit.signal ?? 'a signal'}` : `ended with exit code ${exit.code}`
  if (exit.code === 137) {
    return new CommandFailure(
      'out_of_memory',
      `\`${shortCommand}\` was killed (exit code 137), most likely because it used more memory than it may.`,
      'Make the build need less memory, or give builds more of it.',
    )
  }
  const hint =
    exit.code === 127
      ? 'A program was not found. Is it among the dependencies?'
      : 'Run the same command on your machine in a fresh checkout to see it fail.'
  return new CommandFailure(`${step}_failed`, `\`${shortCommand}\` ${outcome} after ${formatDuration(exit.duration_ms)}.`, hint)
}

/** `3.2 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
