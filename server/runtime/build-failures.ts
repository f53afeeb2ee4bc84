import { BuildFailure } from './runtime.ts'

/** The sentence for a command that ended badly; the same in both drivers. */
export function stepFailure(
  step: 'install' | 'build',
  command: string,
  end: { code: number | null; signal: string | null; out_of_memory: boolean; too_many_processes: boolean },
  memory_mb: number,
  processes: number,
): BuildFailure {
  const short = command.length > 120 ? `${command.slice(0, 120)}…` : command
  if (end.out_of_memory) {
    return new BuildFailure(
      'out_of_memory',
      `\`${short}\` used more than the ${memory_mb} MB of memory that a build may use.`,
      'Make the build need less memory, or give builds more of it.',
    )
  }
  if (end.too_many_processes) {
    return new BuildFailure(
      `${step}_failed`,
      `\`${short}\` began more than ${processes} processes and was ended.`,
      'Look for a script that starts itself again.',
    )
  }
  const how = end.code === null ? `was ended by ${end.signal ?? 'a signal'}` : `ended with exit code ${end.code}`
  const hint =
    end.code === 127
      ? 'A program was not found: is it among the dependencies?'
      : `The last lines of the ${step} log say why; the same command fails on any machine with a fresh checkout.`
  return new BuildFailure(`${step}_failed`, `\`${short}\` ${how}.`, hint)
}

export const missingOutput = (directory: string): BuildFailure =>
  new BuildFailure(
    'build_failed',
    `The build left no folder ${directory}, which was to be served.`,
    'Check the build command, and where the framework writes its output.',
  )
