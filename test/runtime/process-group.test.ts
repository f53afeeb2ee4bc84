import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createPsReader, createSampler } from '../../server/runtime/process/process-table.ts'
import { createShellCommand } from '../../server/runtime/process/build-command.ts'
import { createLineStreams } from '../../server/runtime/process/line-streams.ts'
import { type GroupProgram, startProcessGroup } from '../../server/runtime/process/process-group.ts'
import { isProcessRunning } from '../support/processes.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const start = async (script: string, clock: TestClock, more: Partial<GroupProgram> = {}) => {
  const lines: string[] = []
  const request = { file: '/bin/sh', args: ['-c', script], cwd: '/', env: { PATH: process.env.PATH ?? '' }, memory_mb: 512, max_processes: 64 }
  const group = await startProcessGroup(
    { ...request, clock, ...more },
    createLineStreams((_, line) => lines.push(line), clock),
  )
  return { group, printed: (line: string) => until(() => lines.includes(line) || undefined, { what: `the line ${line}` }), lines }
}

test('a group that ignores SIGTERM is killed exactly when its grace period is over', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const { group, printed } = await start(`trap 'echo no' TERM; echo up; while :; do sleep 1000 & wait; done`, clock)
  await printed('up')
  const stopped = group.stop(10_000)
  await printed('no')
  await clock.advance(9_999)
  expect(isProcessRunning(group.pid)).toBe(true)
  await clock.advance(1)
  expect(await stopped).toMatchObject({ signal: 'SIGKILL', out_of_memory: false, too_many_processes: false })
})

test('a group of too many processes is killed, and the exit has the reason', async () => {
  const { group } = await start('for i in 1 2 3 4 5; do sleep 1000 & done; wait', createTestClock(), { max_processes: 5 })
  expect(await group.ended).toMatchObject({ signal: 'SIGKILL', too_many_processes: true, out_of_memory: false })
})

test('a group over its memory limit is killed whichever process uses it, and the exit has the reason', async () => {
  const greedy = `"${process.execPath}" -e "const all = Buffer.alloc(90e6, 1); setInterval(() => all[0]++, 1000)" & wait`
  const { group } = await start(greedy, createTestClock(), { memory_mb: 80 })
  expect(await group.ended).toMatchObject({ signal: 'SIGKILL', out_of_memory: true, too_many_processes: false })
})

test('a frozen group is not sampled, a resumed one is', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const { group, printed } = await start('sleep 1000 & echo up; wait', clock, { memory_mb: 0 })
  await printed('up')
  group.setFrozen(true)
  await clock.advance(400)
  await clock.advance(400)
  expect((await group.listPids()).filter(isProcessRunning)).toHaveLength(2)
  group.setFrozen(false)
  await clock.advance(400)
  expect(await group.ended).toMatchObject({ out_of_memory: true })
})

test('output of a process that left the group is awaited while it prints, and for a second of silence', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  // Its parent has exited by the time the group is inspected.
  const { group, printed, lines } = await start('(setsid sh -c "echo far; exec sleep 1000" &) ; sleep 1000', clock)
  await printed('far')
  const stopped = group.stop(0)
  let hasEnded = false
  void stopped.then(() => (hasEnded = true))
  await until(() => !isProcessRunning(group.pid) || undefined, { what: 'the end of the shell' })
  await clock.advance(999)
  expect(hasEnded).toBe(false)
  await clock.advance(1)
  await stopped
  expect(lines).toEqual(['far'])
})

test('the last output of a long silent program is read, even if its exit is known first', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const groups = await Promise.all(
    Array.from({ length: 20 }, () => start(`trap 'echo last; exit 0' TERM; echo up; while :; do sleep 1000 & wait; done`, clock)),
  )
  for (const { printed } of groups) await printed('up')
  await clock.advance(60_000)
  await Promise.all(groups.map(({ group }) => group.stop(10_000)))
  expect(groups.map(({ lines }) => lines.join())).toEqual(groups.map(() => 'up,last'))
})

test('one scan of all processes per second serves all apps that were running when it began', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  let runs = 0
  const sample = createSampler(
    createPsReader(async (args) => {
      runs++
      return execFileSync('ps', args, { encoding: 'utf8', env: { PATH: process.env.PATH, LC_ALL: 'C' } })
    }),
    clock,
  )
  const apps = Array.from({ length: 20 }, async () => sample(clock.monotonic()))
  const own = (await Promise.all(apps))[19]!.find((row) => row.pid === process.pid)
  expect(own).toMatchObject({ parent: process.ppid, started: expect.stringMatching(/\d\d:\d\d:\d\d \d{4}$/) })
  expect(own?.rss_bytes).toBeGreaterThan(1e6)
  await clock.advance(500)
  await sample()
  expect(runs).toBe(1)
  // An app that started meanwhile.
  await sample(clock.monotonic())
  expect(runs).toBe(2)
  await clock.advance(999)
  await sample(clock.monotonic() - 999)
  expect(runs).toBe(2)
  await clock.advance(1)
  await sample()
  await sample(Infinity)
  expect(runs).toBe(4)
})

test('a command line with quotes reaches the shell of each system unchanged', async () => {
  const command = `"${process.execPath}" -e "process.stdout.write('one two')"`
  const { group, lines } = await start('', createTestClock(), createShellCommand(command, 'linux'))
  await group.ended
  expect(lines).toEqual(['one two'])
  // Node's own exec passes the same to cmd.exe: docs of `spawn`, windowsVerbatimArguments.
  expect(createShellCommand(command, 'win32')).toEqual({ file: 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], windowsVerbatimArguments: true })
})
