import { BuildFailure, CommandFailure } from './runtime.ts'

/** The failure of a command; both runtimes use the same sentences. */
export function createCommandFailure(
  purpose: 'install' | 'build',
  command: string,
  exit: { code: number | null; signal: string | null; out_of_memory: boolean; too_many_processes: boolean; duration_ms: number },
  memory_mb: number,
  max_processes: number,
): BuildFailure {
  // Cut between words, so that a secret stays whole and can still be masked.
  const shortCommand = command.length > 120 ? `${command.slice(0, 120).replace(/\S*$/, '')}…` : command
  if (exit.out_of_memory) {
    return new BuildFailure(
      'out_of_memory',
      `\`${shortCommand}\` exceeded the build memory limit of ${memory_mb} MB.`,
      'Reduce the memory use of the build, or raise the build memory limit.',
    )
  }
  if (exit.too_many_processes) {
    return new BuildFailure(
      `${purpose}_failed`,
      `\`${shortCommand}\` was stopped because it started more than ${max_processes} processes.`,
      'Check for a script that starts itself recursively.',
    )
  }
  const outcome = exit.code === null ? `was killed by ${exit.signal ?? 'a signal'}` : `ended with exit code ${exit.code}`
  if (exit.code === 137) {
    return new CommandFailure(
      'out_of_memory',
      `\`${shortCommand}\` was killed (exit code 137), most likely because it ran out of memory.`,
      'Reduce the memory use of the build, or raise the build memory limit.',
    )
  }
  const hint =
    exit.code === 127
      ? 'A program was not found. Check that it is in the dependencies.'
      : 'Run the same command in a fresh checkout on your machine to reproduce the error.'
  return new CommandFailure(`${purpose}_failed`, `\`${shortCommand}\` ${outcome} after ${formatDuration(exit.duration_ms)}.`, hint)
}

/** For example `3.2 s` or `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
