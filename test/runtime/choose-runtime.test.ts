import { describe, expect, test } from 'vitest'
import { type RuntimeName, runtimeNames, runtimes } from '../../server/contract/runtimes.ts'
import { chooseRuntime, getRuntimesToStop } from '../../server/runtime/choose-runtime.ts'

const runtimesWith = (...available: RuntimeName[]) => withNodes(1, available)
const withNodes = (nodes: number, available: RuntimeName[]) => {
  const runtime = (name: RuntimeName) => ({
    probe: async () => ({ available: available.includes(name), version: available.includes(name) ? '1' : null, reason: `About ${name}.`, nodes }),
  })
  return Object.fromEntries(runtimeNames.map((name) => [name, runtime(name)])) as Record<RuntimeName, ReturnType<typeof runtime>>
}

const alone = { hasRegistry: false, hasLed: false }
const withRegistry = { hasRegistry: true, hasLed: false }
const asBefore = { hasRegistry: false, hasLed: true }

describe('the runtime of new deployments', () => {
  test('is the first available one', async () => {
    expect(await chooseRuntime(runtimesWith('docker', 'process'), 'auto', alone)).toEqual({
      name: 'docker',
      version: '1',
      reason: 'About docker.',
      is_forced: false,
    })
  })

  test('is the next one with the reason why the first is not available', async () => {
    const reason = 'About docker. Apps run as processes on this machine, without isolation.'
    expect(await chooseRuntime(runtimesWith('process'), 'auto', alone)).toEqual({ name: 'process', version: '1', reason, is_forced: false })
    const last = runtimeNames.at(-1)!
    expect(await chooseRuntime(runtimesWith(), 'auto', alone)).toMatchObject({
      name: last,
      version: null,
      reason: expect.stringContaining(runtimes[last].summary),
    })
  })

  test('is a cluster only with several nodes or a registry for them; nothing is said about one that is not there', async () => {
    expect(await chooseRuntime(runtimesWith('swarm', 'docker', 'process'), 'auto', alone)).toMatchObject({ name: 'docker' })
    expect(await chooseRuntime(withNodes(2, ['swarm', 'docker', 'process']), 'auto', alone)).toMatchObject({ name: 'swarm' })
    expect(await chooseRuntime(runtimesWith('swarm', 'docker', 'process'), 'auto', withRegistry)).toMatchObject({ name: 'swarm' })
    expect(await chooseRuntime(runtimesWith('docker', 'process'), 'auto', withRegistry)).toMatchObject({ name: 'docker', reason: 'About docker.' })
  })

  test('is the cluster that the instance has led, also of one node or without a quorum, unless this machine is in none any more', async () => {
    const runtimes = withNodes(1, ['docker', 'process'])
    const member = (is_member: boolean) => ({
      ...runtimes,
      swarm: { probe: async () => ({ available: false, version: null, reason: 'The swarm has no quorum.', is_member }) },
    })
    expect(await chooseRuntime(member(true), 'auto', asBefore)).toEqual({
      name: 'swarm',
      version: null,
      reason: 'The swarm has no quorum.',
      is_forced: false,
    })
    expect(await chooseRuntime(member(false), 'auto', asBefore)).toMatchObject({ name: 'docker' })
    expect(await chooseRuntime(member(true), 'auto', alone)).toMatchObject({ name: 'docker' })
  })

  test('is the requested one, whether it is available or not', async () => {
    const reason = 'About docker. (--runtime docker)'
    expect(await chooseRuntime(runtimesWith('process'), 'docker', alone)).toEqual({ name: 'docker', version: null, reason, is_forced: true })
  })
})

test('on exit, the apps that the setting names are stopped', () => {
  expect(getRuntimesToStop('default')).toContain('process')
  expect(getRuntimesToStop('default')).not.toContain('docker')
  expect(getRuntimesToStop('stop')).toEqual(runtimeNames)
  expect(getRuntimesToStop('keep')).toEqual([])
})
