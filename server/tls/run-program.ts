import { execFile } from 'node:child_process'
import { type Environment, pickVariables } from '../lib/environment.ts'

export interface ProgramResult {
  /** -1: the program does not exist. */
  code: number
  out: string
  /** The last line of its output, for display. */
  message: string
}

export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>

/** Long, because the user may have to answer a dialog. */
const programTimeout_ms = 120_000

/** Runs system programs, never through a shell, with only the environment variables that they need. */
export function createProgramRunner(environment: Environment, platform?: NodeJS.Platform): RunProgram {
  const env = pickVariables(environment, ['PATH', 'HOME', 'USERPROFILE', 'SystemRoot', 'DISPLAY', 'XDG_RUNTIME_DIR'], platform)
  return (program, args) =>
    new Promise((resolve) => {
      execFile(
        program,
        args,
        { env: { ...env, LC_ALL: 'C' }, timeout: programTimeout_ms, maxBuffer: 16 * 2 ** 20, windowsHide: true },
        (error, out, err) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
          resolve({ code, out, message: (err || out).trim().split('\n').at(-1)?.slice(0, 300) ?? '' })
        },
      )
    })
}
