/**
 * `node test/main/smoke-start.ts COMMAND [ARGUMENT...]`: starts the desktop with a command (npm start, a package) on a new data folder, waits
 * until it reports that it is ready, and quits it. Prints its output. For machines with a display (.github/workflows/desktop.yml).
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTempFolder } from '../support/instance-process.ts'
import { startDeadline, until } from '../support/until.ts'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error('Say what to start.')
// Includes an installation and a download of Electron.
startDeadline(15 * 60_000)
const folder = createTempFolder('starts')
const log = join(folder.path, 'desktop', 'logs', 'main.log')
const options = ['--data', folder.path, '--port', '0', '--edge-port', '0', '--runtime', 'process']
// npm is a script on Windows.
const child = spawn(command, [...args, ...options], { stdio: 'inherit', shell: process.platform === 'win32' && command === 'npm' })
const ended = once(child, 'exit')
try {
  await until(
    () => {
      // A headless platform, and a second start, print no such line.
      if (existsSync(log) && readFileSync(log, 'utf8').includes('"event":"started"')) return true
      if (child.exitCode !== null) process.exit(child.exitCode || 1)
      return undefined
    },
    { what: 'the start of the desktop', every_ms: 500 },
  )
  console.log(`${[command, ...args].join(' ')} opened the desktop.`)
} finally {
  // There a signal ends only npm.
  if (process.platform === 'win32' && child.exitCode === null) execFileSync('taskkill', ['/PID', String(child.pid), '/T', '/F'], { stdio: 'ignore' })
  else child.kill('SIGINT')
  await ended
}
folder.remove()
