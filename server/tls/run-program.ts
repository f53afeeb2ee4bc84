import { execFile } from 'node:child_process'
import { type Environment, pickVariables } from '../lib/environment.ts'

export interface ProgramResult {
  /** -1: there is no such program. */
  code: number
  out: string
  /** Its last words, for a person. */
  message: string
}

export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>

/** A person may have to answer a dialog. */
const programTimeout_ms = 120_000

/** Runs programs of the system, never by a shell, with no more of our environment than they need. */
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
