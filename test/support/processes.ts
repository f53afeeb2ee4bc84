import { execFileSync } from 'node:child_process'

/** Command lines of running processes that contain a text. */
export function findProcessesByCommand(text: string): string[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 32e6 })
    .split('\n')
    .filter((line) => line.includes(text))
}

export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
