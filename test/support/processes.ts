import { execFileSync } from 'node:child_process'

/** Command lines of running processes that contain a text. */
export function findProcessesByCommand(text: string): string[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 32e6 })
    .split('\n')
    .filter((line) => line.includes(text))
}

/** Process IDs of a process's own children whose command line contains a text. */
export function findChildren(parent: number, text: string): number[] {
  return execFileSync('ps', ['-eo', 'ppid=,pid=,args='], { encoding: 'utf8', maxBuffer: 32e6 })
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([ppid, pid = 0]) => (ppid === parent ? [pid] : []))
}

export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
