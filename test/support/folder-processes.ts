import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Processes whose working directory is a folder or below it (Linux): id, command line and folder. */
export function findProcessesIn(folder: string): { pid: number; command: string; cwd: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const cwd = readlinkSync(`/proc/${name}/cwd`)
        if (cwd !== folder && !cwd.startsWith(`${folder}/`)) return []
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        // A zombie process has no command line.
        return command === '' ? [] : [{ pid: Number(name), command, cwd }]
      } catch {
        return []
      }
    })
}
