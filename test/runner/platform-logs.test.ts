import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'

/** A runner whose platform left a log; `then` is the code that follows. Returns the folder and whether it still exists. */
async function run(then: string, signal?: NodeJS.Signals): Promise<{ folder: string; is_there: boolean; printed: string }> {
  const script = `
    import { writeFileSync } from 'node:fs'
    const { createPlatformLogs } = await import(${JSON.stringify(new URL('platform-logs.ts', import.meta.url).href)})
    const logs = createPlatformLogs()
    const folder = process.env.HOMEPORT_TEST_LOGS
    const log = () => writeFileSync(folder + '/platform.log', 'listening')
    console.log(folder)
    ${then}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    if (signal !== undefined) child.kill(signal)
  })
  const [code, endedBy] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(endedBy ?? code).toBe(signal ?? 0)
  const [folder = '', ...rest] = printed.split('\n')
  const is_there = existsSync(folder)
  rmSync(folder, { recursive: true, force: true })
  return { folder, is_there, printed: rest.join('\n') }
}

test('logs of platforms are deleted when the runner ends', async () => {
  expect(await run('log()')).toMatchObject({ is_there: false, printed: '' })
})

test('logs of platforms are deleted when the runner is interrupted', async () => {
  expect(await run('log(); setInterval(() => {}, 1000)', 'SIGINT')).toMatchObject({ is_there: false, printed: '' })
})

test('logs of platforms stay after a failed test, and their path is printed', async () => {
  const { folder, is_there, printed } = await run('log(); logs.keep()')
  expect(is_there).toBe(true)
  expect(printed.trim()).toBe(`Logs of the platforms: ${folder}`)
})

test('a failure before any platform started leaves nothing', async () => {
  expect(await run('logs.keep()')).toMatchObject({ is_there: false, printed: '' })
})
