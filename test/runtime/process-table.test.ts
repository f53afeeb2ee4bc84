import { expect, test } from 'vitest'
import { measurePrivateMemory, measureCpuTime, readProcessTable, readProcessStart } from '../../server/runtime/process/process-table.ts'

const isLinux = process.platform === 'linux'

test.runIf(isLinux)('a scan of the machine’s processes does not allocate a buffer for each', async () => {
  const before = process.memoryUsage().arrayBuffers
  const table = await readProcessTable()
  const pids = table.map((row) => row.pid)
  await Promise.all([measurePrivateMemory(pids), measureCpuTime(pids)])
  // A garbage collection meanwhile can only reduce it.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(pids.length * 1024)
})

test.runIf(isLinux)('contains this process, with its parent and start time', async () => {
  const own = (await readProcessTable()).find((row) => row.pid === process.pid)
  expect(own).toEqual({ pid: process.pid, parent: process.ppid, group: expect.any(Number), started: await readProcessStart(process.pid) })
  expect(await measurePrivateMemory([process.pid])).toBeGreaterThan(10e6)
  expect(await readProcessStart(2 ** 30)).toBeUndefined()
})
