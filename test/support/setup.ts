import { beforeAll, beforeEach } from 'vitest'
import { startDeadline } from './until.ts'

// Files share a worker process: the hooks of a file must not wait by the deadline of the file before.
beforeAll(() => startDeadline())
beforeEach(({ task }) => startDeadline(task.timeout))

/**
 * Signal 0 to a process group, or a pid of -1, would end the run itself. A pid that is missing in a test turns into 0: refuse it with
 * a sentence instead.
 */
const kill = process.kill.bind(process)
const killGuard = Symbol.for('homeport.kill-guard')
if (!(killGuard in process)) {
  Object.defineProperty(process, killGuard, { value: true })
  process.kill = (pid, signal) => {
    if (pid === 0 || pid === -1) throw new RangeError(`${signal ?? 'SIGTERM'} to ${pid} would end this run; which process was meant?`)
    return kill(pid, signal)
  }
}
