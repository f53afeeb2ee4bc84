import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine } from '../support/command.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'

const folder = createTempFolder('scale-commands')
let platform: SharedPlatform
let repository: Repository
let run: CommandLine
beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
  repository = makeRepository(tinyServer('scaled'))
  await platform.createProject({ slug: 'scaled-by-command', repo_url: repository.url })
  const { id } = await platform.deploy('scaled-by-command')
  expect((await platform.waitForEnd('scaled-by-command', id)).status).toBe('ready')
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
  folder.remove()
})

test('scale sets the number of replicas and lists them', async () => {
  expect((await run('scale', 'scaled-by-command')).out).toBe('scaled-by-command has 1 replica.\n')
  expect((await run('scale', 'scaled-by-command', '2')).out).toMatch(/^scaled-by-command has 2 replicas\.\nSERVICE +REPLICA +STATUS +OPEN REQUESTS/)
  await until(async () => ((await run('scale', 'scaled-by-command')).out.match(/ Running /g) ?? []).length === 2 || undefined, {
    what: 'two running replicas',
  })
  expect(await run.json('scale', 'scaled-by-command', 'web=1')).toMatchObject({ replicas: 1, autoscaling: null })
})

test('scale turns autoscaling on with a range, and off with a number', async () => {
  const { out } = await run('scale', 'scaled-by-command', '--min', '2', '--max', '4', '--target', '30')
  expect(out).toContain('\nAutoscaling: 2 to 4 replicas, target 30 concurrent requests each.\n')
  await until(
    async () => {
      await platform.advance(1_000)
      return (await run('scale', 'scaled-by-command')).out.includes('Scaled from 1 to 2: the minimum is 2.') || undefined
    },
    { what: 'the decision' },
  )
  expect((await run('projects', 'show', 'scaled-by-command')).out).toMatch(/autoscaling +2 to 4 replicas/)
  expect(await run.json('scale', 'scaled-by-command', '--max', '4')).toMatchObject({ autoscaling: { min: 1, max: 4, target_concurrency: 20 } })
  expect((await run('scale', 'scaled-by-command', '1')).out).not.toContain('Autoscaling')
  expect((await run('projects', 'set', 'scaled-by-command', 'replicas=3')).out).toBe('replicas is now 3.\n')
  expect((await run('projects', 'set', 'scaled-by-command', 'autoscaling=none', 'replicas=1')).code).toBe(0)
})

test('scale refuses what cannot be', async () => {
  for (const wrong of [
    ['0'],
    ['21'],
    ['many'],
    ['2', '3'],
    ['worker=2'],
    ['--min', '2'],
    ['--max', '21'],
    ['--target', 'x', '--max', '2'],
    ['2', '--max', '3'],
  ])
    expect((await run('scale', 'scaled-by-command', ...wrong)).code).toBe(2)
  expect((await run('scale', 'scaled-by-command', 'worker=2')).err).toContain('set services.worker.replicas in homeport.yaml')
  expect(await run('scale', 'scaled-by-command', '--min', '3', '--max', '2')).toMatchObject({ code: 1, err: expect.stringContaining('less than') })
  expect((await run('projects', 'set', 'scaled-by-command', 'autoscaling=5')).err).toContain('homeport scale SLUG --min 1')
})
