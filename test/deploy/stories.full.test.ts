import { afterAll, describe } from 'vitest'
import { createEngineGate } from '../support/engine-gate.ts'
import { requires } from '../support/requirements.ts'
import { coreStories, moreStories, useScene } from './stories.ts'

const long = { redeploys: 20, cancel_ms: 2_000 }

describe('deployments on process', () => moreStories(useScene('process'), long))
describe.skipIf(!requires('docker').ok)('deployments on Docker', () => moreStories(useScene('docker'), long))

// It publishes the ports of its containers, as engines in a virtual machine do.
describe.skipIf(!requires('docker').ok)('deployments on an engine reached over TCP', async () => {
  const gate = createEngineGate()
  afterAll(() => gate.remove())
  coreStories(useScene('docker', requires('docker').ok ? [await gate.openTcp()] : []))
})
