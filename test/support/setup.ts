import { beforeAll, beforeEach, expect } from 'vitest'
import { startDeadline } from './until.ts'

// Files share a worker process, so the hooks of a file must not use the deadline of the previous file.
beforeAll(() => startDeadline())
beforeEach(({ task }) => startDeadline(task.timeout))

/** Signal 0 to a process group, or a pid of -1, would kill the run itself. A missing pid in a test becomes 0, so it is rejected with an error. */
const kill = process.kill.bind(process)
const isSetUp = Symbol.for('homeport.set-up')
if (!(isSetUp in process)) {
  Object.defineProperty(process, isSetUp, { value: true })
  // Vitest compares bytes one by one as properties, which takes three seconds per megabyte.
  expect.addEqualityTesters([(a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined)])
  process.kill = (pid, signal) => {
    if (pid === 0 || pid === -1) throw new RangeError(`${signal ?? 'SIGTERM'} to ${pid} would end this run; which process was meant?`)
    return kill(pid, signal)
  }
}
