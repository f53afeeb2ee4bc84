import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
/** A script of a package, such as `vitest/vitest.mjs`. */
export const packageScript = (name: string): string => join(root, 'node_modules', name)

export interface CommandResult {
  code: number
  output: string
  seconds: number
}

/** Runs a script on the current Node. `is_shown`: its output goes to the terminal instead of the result. */
export function runScript(args: string[], options: { is_shown?: boolean; env?: Record<string, string>; cwd?: string } = {}): Promise<CommandResult> {
  const started = performance.now()
  const stdio = options.is_shown ? 'inherit' : 'pipe'
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd ?? root,
      stdio: [options.is_shown ? 'inherit' : 'ignore', stdio, stdio],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', ...options.env },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('close', (code) => resolve({ code: code ?? 1, output, seconds: (performance.now() - started) / 1000 }))
  })
}
